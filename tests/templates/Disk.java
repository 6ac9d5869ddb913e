// SPDX-License-Identifier: Apache-2.0
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;

/** Every way to open a file, and bytes written and read. */
public class Disk {
    public static void main(String[] args) throws IOException {
        Path dir = Files.createTempDirectory("disk");
        File file = new File(dir.toFile(), "a.bin");

        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(new byte[50]);
            out.write(new byte[50], 10, 20);
            out.write(1);
        }
        try (FileInputStream in = new FileInputStream(file.getPath())) {
            System.out.println(in.read(new byte[60]));
            System.out.println(in.read(new byte[60], 1, 5));
            System.out.println(in.read());
            System.out.println(in.readAllBytes().length);
            System.out.println(in.read());
        }
        try (RandomAccessFile both = new RandomAccessFile(file, "rw")) {
            both.seek(70);
            both.write(new byte[9], 0, 9);
            both.seek(0);
            System.out.println(both.read(new byte[100]));
        }
        try (FileChannel channel = FileChannel.open(dir.resolve("a.bin"))) {
            System.out.println(channel.read(ByteBuffer.allocate(33)));
        }
        Files.write(dir.resolve("b.bin"), new byte[12]);
        System.out.println(Files.readAllBytes(dir.resolve("b.bin")).length);
        try {
            new FileInputStream("/does/not/exist");
        } catch (FileNotFoundException e) {
            System.out.println(e.getMessage());
        }
        try {
            new FileInputStream((File) null);
        } catch (NullPointerException e) {
            System.out.println("null: " + e.getStackTrace()[0].getClassName());
        }
        Files.delete(file.toPath());
        Files.delete(dir.resolve("b.bin"));
        Files.delete(dir);
    }
}
