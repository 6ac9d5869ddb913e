// SPDX-License-Identifier: Apache-2.0
package crowd;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InvalidStackFrameException;
import com.sun.jdi.ObjectCollectedException;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.ExceptionRequest;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Debugger PORT SEED: what somebody with a debugger does, quickly and at random, until a line comes on stdin: stops a
 * thread or all of them for up to a tenth of a second, looks at stacks, has itself told of classes and exceptions, leaves
 * and comes back. */
public class Debugger {
	private static Random random;
	private static long suspends;

	static VirtualMachine attach(String port) throws Exception {
		for (AttachingConnector c : Bootstrap.virtualMachineManager().attachingConnectors()) {
			if (!c.transport().name().equals("dt_socket"))
				continue;
			Map<String, Connector.Argument> a = c.defaultArguments();
			a.get("hostname").setValue("127.0.0.1");
			a.get("port").setValue(port);
			a.get("timeout").setValue("30000");
			for (int i = 0;; i++) {
				try {
					return c.attach(a);
				} catch (IOException e) {
					if (i == 100) // after a debugger has left it takes a moment until another one is heard
						throw e;
					Thread.sleep(50);
				}
			}
		}
		throw new IllegalStateException("no connector for dt_socket");
	}

	static void pause() throws InterruptedException {
		Thread.sleep(random.nextInt(100));
	}

	static void look(ThreadReference t) {
		try {
			List<StackFrame> frames = t.frames();
			for (StackFrame f : frames.subList(0, Math.min(5, frames.size())))
				f.location().method().name();
		} catch (IncompatibleThreadStateException | ObjectCollectedException | InvalidStackFrameException e) {
			return; // it has ended
		}
	}

	static void one(VirtualMachine vm) throws InterruptedException {
		List<ThreadReference> all = vm.allThreads();
		ThreadReference t = all.get(random.nextInt(all.size()));
		if (t.name().startsWith("sonde"))
			return;
		t.suspend();
		look(t);
		pause();
		t.resume();
	}

	static void all(VirtualMachine vm) throws InterruptedException {
		vm.suspend();
		for (ThreadReference t : vm.allThreads())
			look(t);
		pause();
		vm.resume();
	}

	/** Classes as they are prepared and exceptions as they are thrown, for a while. */
	static void events(VirtualMachine vm) throws InterruptedException {
		ClassPrepareRequest classes = vm.eventRequestManager().createClassPrepareRequest();
		classes.addClassFilter("crowd.*");
		classes.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
		ExceptionRequest thrown = vm.eventRequestManager().createExceptionRequest(null, true, false);
		thrown.addClassFilter("crowd.*");
		thrown.setSuspendPolicy(EventRequest.SUSPEND_NONE);
		classes.enable();
		thrown.enable();
		long end = System.currentTimeMillis() + 200;
		drain(vm, end);
		classes.disable();
		thrown.disable();
		drain(vm, System.currentTimeMillis() + 20); // of those on the way
	}

	static void drain(VirtualMachine vm, long end) throws InterruptedException {
		for (long left; (left = end - System.currentTimeMillis()) > 0;) {
			EventSet set = vm.eventQueue().remove(left);
			if (set != null)
				set.resume();
		}
	}

	public static void main(String[] args) throws Exception {
		random = new Random(Long.parseLong(args[1]));
		while (System.in.available() == 0) {
			VirtualMachine vm = attach(args[0]);
			try {
				for (int i = random.nextInt(30); i >= 0; i--, suspends++) {
					switch (random.nextInt(5)) {
					case 0:
						all(vm);
						break;
					case 1:
						events(vm);
						break;
					default:
						one(vm);
					}
					pause();
				}
			} catch (ObjectCollectedException e) {
				continue; // a thread of which we knew has ended
			} catch (VMDisconnectedException e) {
				break;
			} finally {
				try {
					vm.dispose(); // resumes all
				} catch (VMDisconnectedException e) {
					break;
				}
			}
		}
		System.out.println("suspended " + suspends + " times");
	}
}
