/* SPDX-License-Identifier: Apache-2.0 */
/* hold.c - an agent that holds threads while they are in ours: as a debugger does that stops a
 * thread, or a machine that gives it no processor.
 *
 * -agentpath:hold.so=DIRECTORY replaces some functions of JNI (SetJNIFunctionTable).  When a thread
 * named "guest" comes from libsonde.so into the function NAME and there is a file DIRECTORY/NAME, it
 * makes DIRECTORY/held and goes on when DIRECTORY/NAME is gone. */
#include <dlfcn.h>
#include <fcntl.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static char directory[512];
static struct JNINativeInterface_ usual;

static void path_of(const char *name, char out[600])
{
	snprintf(out, 600, "%s/%s", directory, name);
}

static void hold(const char *name, const void *caller)
{
	char thread[17] = "", path[600], held[600];
	Dl_info from;

	prctl(PR_GET_NAME, thread);
	path_of(name, path);
	if (strcmp(thread, "guest") != 0 || access(path, F_OK) < 0 || !dladdr(caller, &from) ||
	    !strstr(from.dli_fname, "libsonde"))
		return;
	path_of("held", held);
	close(open(held, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	while (access(path, F_OK) == 0)
		usleep(10000);
}

static jclass JNICALL get_superclass(JNIEnv *jni, jclass c)
{
	hold("GetSuperclass", __builtin_return_address(0));
	return usual.GetSuperclass(jni, c);
}

static jstring JNICALL new_string(JNIEnv *jni, const char *text)
{
	hold("NewStringUTF", __builtin_return_address(0));
	return usual.NewStringUTF(jni, text);
}

static void JNICALL delete_local(JNIEnv *jni, jobject o)
{
	hold("DeleteLocalRef", __builtin_return_address(0));
	usual.DeleteLocalRef(jni, o);
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	jniNativeInterface *table = NULL;

	(void)jni, (void)thread;
	if ((*jvmti)->GetJNIFunctionTable(jvmti, &table) != JVMTI_ERROR_NONE)
		return;
	usual = *table;
	table->GetSuperclass = get_superclass;
	table->NewStringUTF = new_string;
	table->DeleteLocalRef = delete_local;
	(*jvmti)->SetJNIFunctionTable(jvmti, table);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)table);
}

EXPORT JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks = { .VMInit = on_init };
	jvmtiEnv *jvmti;

	(void)reserved;
	snprintf(directory, sizeof(directory), "%s", options ? options : "");
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE)
		return JNI_ERR;
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	return JNI_OK;
}
