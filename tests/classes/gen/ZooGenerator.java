// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes the classes that javac does not: java -cp ...:asm.jar ZooGenerator OUTDIR.  One source
 * file per topic; those that say "Raw" or "Invalid" write bytes, the others go through ASM.
 */
public final class ZooGenerator {
	public static void main(String[] args) throws IOException {
		Zoo zoo = new Zoo(Path.of(args[0]));
		AllOpcodes.write(zoo);
		Subroutines.write(zoo);
		AllFrames.write(zoo);
		LargeMethods.write(zoo);
		Handles.write(zoo);
		Handlers.write(zoo);
		RawPool.write(zoo);
		RawCode.write(zoo);
		RawAttributes.write(zoo);
		InvalidFormat.write(zoo);
		InvalidMembers.write(zoo);
		InvalidCode.write(zoo);
		InvalidVerify.write(zoo);
		InvalidLenient.write(zoo);
		Files.write(zoo.out.resolve("programs"), zoo.programs, StandardOpenOption.CREATE,
				StandardOpenOption.APPEND);
	}
}
