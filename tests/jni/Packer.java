// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Packs, unpacks and reads a file: each round is one call of zlib's deflate, one of inflate, and one of
 * pread. Told so by lines: "work THREADS ROUNDS", "begin THREADS", "end". Prints rounds, and how many were wrong.
 */
public class Packer {
    static final AtomicLong done = new AtomicLong(), wrong = new AtomicLong();
    static volatile boolean go;
    static Path file;

    static boolean round(Work w) throws Exception {
        w.deflater.reset();
        w.deflater.setInput(w.data);
        w.deflater.finish();
        int n = w.deflater.deflate(w.packed);
        w.inflater.reset();
        w.inflater.setInput(w.packed, 0, n);
        int m = w.inflater.inflate(w.out);
        w.read.clear();
        w.channel.read(w.read, 0);
        return m == w.data.length && Arrays.equals(w.data, w.out) && w.read.position() == 512;
    }

    static class Work extends Thread {
        final Deflater deflater = new Deflater();
        final Inflater inflater = new Inflater();
        final byte[] data = new byte[2000], packed = new byte[4000], out = new byte[2000];
        final ByteBuffer read = ByteBuffer.allocateDirect(512);
        final long rounds;
        FileChannel channel;

        Work(long rounds) {
            this.rounds = rounds;
            for (int i = 0; i < data.length; i++)
                data[i] = (byte) (i * i % 61);
        }

        @Override
        public void run() {
            try (FileChannel f = FileChannel.open(file)) {
                channel = f;
                for (long i = 0; rounds > 0 ? i < rounds : go; i++) {
                    if (!round(this))
                        wrong.incrementAndGet();
                    done.incrementAndGet();
                }
            } catch (Throwable e) {
                wrong.incrementAndGet();
                e.printStackTrace();
            }
            deflater.end();
            inflater.end();
        }
    }

    static Work[] start(int threads, long rounds) {
        Work[] all = new Work[threads];
        go = true;
        for (int i = 0; i < threads; i++)
            (all[i] = new Work(rounds)).start();
        return all;
    }

    static void join(Work[] all) throws Exception {
        go = false;
        for (Work w : all)
            w.join();
        System.out.println("done " + done.getAndSet(0) + " " + wrong.getAndSet(0));
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Work[] running = {};
        file = Path.of(args[0]);
        join(start(1, 1)); // loads the libraries
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            String[] word = line.split(" ");
            if (word[0].equals("work"))
                join(start(Integer.parseInt(word[1]), Long.parseLong(word[2])));
            else if (word[0].equals("begin"))
                running = start(Integer.parseInt(word[1]), 0);
            else
                join(running);
        }
    }
}
