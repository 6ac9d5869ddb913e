// SPDX-License-Identifier: Apache-2.0
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;

/** Another agent, which changes a text in Victim: at load, or when it comes later. */
public class Other implements ClassFileTransformer {
	public byte[] transform(ClassLoader loader, String name, Class<?> c, ProtectionDomain domain, byte[] bytes) {
		if (!"Victim".equals(name))
			return null;
		String text = new String(bytes, StandardCharsets.ISO_8859_1);
		return text.replace("seven", "SEVEN").getBytes(StandardCharsets.ISO_8859_1);
	}

	public static void premain(String options, Instrumentation jvm) {
		jvm.addTransformer(new Other(), true);
	}

	public static void agentmain(String options, Instrumentation jvm) throws Exception {
		jvm.addTransformer(new Other(), true);
		for (Class<?> c : jvm.getAllLoadedClasses())
			if (c.getName().equals("Victim"))
				jvm.retransformClasses(c);
	}
}
