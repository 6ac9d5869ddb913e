/* SPDX-License-Identifier: Apache-2.0 */
/* zlib_work.c - what zlib's own test programs do: every kind of stream, at every level, whole and in pieces, with
 * dictionaries, flushes, copies, damaged data, and files.  Prints checksums of all results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { N = 200000, OUT = 400000 };

static unsigned char in[N], out[OUT], back[N + 100];
static unsigned long sum;

static void tell(const char *what, unsigned long a, unsigned long b)
{
	sum = crc32(sum, (const unsigned char *)&a, sizeof(a));
	printf("%s %lu %lu\n", what, a, b);
}

static void must(int good, const char *what)
{
	if (!good) {
		printf("wrong: %s\n", what);
		exit(1);
	}
}

static void fill(void)
{
	static const char text[] = "a line of text, again ";
	unsigned x = 1;

	for (int i = 0; i < N; i++) {
		x = x * 1103515245 + 12345;
		in[i] = (unsigned char)(i % 1000 < 600 ? (unsigned)text[i % 22] : x >> 24);
	}
}

static uLong pack(int level, int bits, int strategy, unsigned piece, int flush)
{
	z_stream z = { 0 };
	int rc;

	must(deflateInit2(&z, level, Z_DEFLATED, bits, 8, strategy) == Z_OK, "deflateInit2");
	z.next_out = out;
	z.avail_out = OUT;
	for (unsigned at = 0; at < N; at += piece) {
		z.next_in = in + at;
		z.avail_in = N - at < piece ? N - at : piece;
		rc = deflate(&z, flush);
		must(rc == Z_OK || rc == Z_BUF_ERROR, "deflate");
	}
	must(deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate to the end");
	must(deflateEnd(&z) == Z_OK, "deflateEnd");
	return z.total_out;
}

static void unpack(uLong n, int bits, unsigned piece)
{
	z_stream z = { 0 };
	int rc = Z_OK;

	memset(back, 0, sizeof(back));
	must(inflateInit2(&z, bits) == Z_OK, "inflateInit2");
	z.next_in = out;
	z.next_out = back;
	while (rc == Z_OK || rc == Z_BUF_ERROR) {
		z.avail_in = n - z.total_in < piece ? (uInt)(n - z.total_in) : piece;
		z.avail_out = piece < N + 100 - z.total_out ? piece : (uInt)(N + 100 - z.total_out);
		rc = inflate(&z, Z_NO_FLUSH);
	}
	must(rc == Z_STREAM_END && z.total_out == N && memcmp(in, back, N) == 0, "inflate");
	must(inflateEnd(&z) == Z_OK, "inflateEnd");
}

static void streams(void)
{
	static const int kinds[] = { 15, -15, 31, 9 };
	static const int flushes[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH,
				       Z_BLOCK };

	for (int level = 0; level <= 9; level++)
		for (int kind = 0; kind < 4; kind++) {
			uLong n = pack(level, kinds[kind], (level + kind) % 5, kind % 2 ? 777 : N,
				       flushes[(level + kind) % 5]);

			unpack(n, kinds[kind], level % 3 ? N : 333);
			tell("stream", n, crc32(0, out, (uInt)n));
		}
}

static void dictionary(void)
{
	z_stream z = { 0 };
	uLong n;

	must(deflateInit(&z, 9) == Z_OK, "deflateInit");
	must(deflateSetDictionary(&z, in, 1000) == Z_OK, "deflateSetDictionary");
	z.next_in = in;
	z.avail_in = 5000;
	z.next_out = out;
	z.avail_out = OUT;
	must(deflateParams(&z, 1, Z_FILTERED) == Z_OK, "deflateParams");
	must(deflate(&z, Z_FINISH) == Z_STREAM_END && deflateEnd(&z) == Z_OK, "deflate");
	n = z.total_out;
	z = (z_stream){ .next_in = out, .avail_in = (uInt)n, .next_out = back, .avail_out = N };
	must(inflateInit(&z) == Z_OK && inflate(&z, Z_FINISH) == Z_NEED_DICT,
	     "a dictionary is wanted");
	must(inflateSetDictionary(&z, in, 1000) == Z_OK, "inflateSetDictionary");
	must(inflate(&z, Z_FINISH) == Z_STREAM_END && inflateEnd(&z) == Z_OK, "inflate");
	must(memcmp(in, back, 5000) == 0, "what comes out");
	tell("dictionary", n, z.adler);
}

/* One half, a copy of the stream, and the other half twice. */
static void copies(void)
{
	z_stream a = { .next_in = in, .avail_in = N / 2, .next_out = out, .avail_out = OUT / 2 }, b;

	must(deflateInit(&a, 6) == Z_OK && deflate(&a, Z_NO_FLUSH) == Z_OK, "deflate");
	must(deflateCopy(&b, &a) == Z_OK, "deflateCopy");
	b.next_out = out + OUT / 2;
	b.avail_out = OUT / 2;
	a.next_in = b.next_in = in + N / 2;
	a.avail_in = b.avail_in = N / 2;
	must(deflate(&a, Z_FINISH) == Z_STREAM_END && deflate(&b, Z_FINISH) == Z_STREAM_END,
	     "both");
	must(a.total_out == b.total_out, "as much");
	must(deflateReset(&a) == Z_OK && deflateEnd(&a) == Z_OK && deflateEnd(&b) == Z_OK,
	     "deflateEnd");
	tell("copies", b.total_out, deflateBound(NULL, N));
}

static void damaged(void)
{
	uLong n = pack(6, 15, 0, 5000, Z_FULL_FLUSH);
	uLongf got = N;
	z_stream z = { .next_in = out, .avail_in = 2, .next_out = back, .avail_out = N };

	out[n / 2] ^= 0x55;
	must(uncompress(back, &got, out, n) != Z_OK, "damage is seen");
	must(inflateInit(&z) == Z_OK && inflate(&z, Z_NO_FLUSH) == Z_OK, "the head");
	z.avail_in = (uInt)n - 2;
	must(inflateSync(&z) == Z_OK, "inflateSync");
	(void)inflate(&z, Z_FINISH);
	tell("damaged", z.total_out, inflateSyncPoint(&z) >= 0);
	inflateEnd(&z);
}

static unsigned feed(void *at, unsigned char **p)
{
	*p = out;
	return *(unsigned *)at;
}

static int take(void *sum_of, unsigned char *p, unsigned n)
{
	*(uLong *)sum_of = adler32(*(uLong *)sum_of, p, n);
	return 0;
}

static void callbacks(void)
{
	static unsigned char window[32768];
	unsigned n = (unsigned)pack(6, -15, 0, N, Z_NO_FLUSH);
	uLong adler = adler32(0, NULL, 0);
	z_stream z = { 0 };

	must(inflateBackInit(&z, 15, window) == Z_OK, "inflateBackInit");
	must(inflateBack(&z, feed, &n, take, &adler) == Z_STREAM_END, "inflateBack");
	must(inflateBackEnd(&z) == Z_OK && adler == adler32(1, in, N), "all came");
	tell("callbacks", adler,
	     crc32_combine(crc32(0, in, 999), crc32(0, in + 999, N - 999), N - 999));
}

static void files(const char *path)
{
	gzFile f = gzopen(path, "wb7");
	char line[100];

	must(f != NULL && gzbuffer(f, 4096) == 0, "gzopen");
	must(gzputs(f, "first\n") == 6 && gzprintf(f, "%d and %s\n", 2, "more") > 0, "gzprintf");
	must(gzputc(f, '!') == '!' && gzwrite(f, in, 5000) == 5000, "gzwrite");
	must(gzsetparams(f, 2, Z_HUFFMAN_ONLY) == Z_OK && gzseek(f, 1000, SEEK_CUR) > 0, "gzseek");
	must(gzflush(f, Z_SYNC_FLUSH) == Z_OK && gzclose(f) == Z_OK, "gzclose");
	f = gzopen(path, "rb");
	must(f && gzgets(f, line, sizeof(line)) && strcmp(line, "first\n") == 0, "gzgets");
	must(gzgetc(f) == '2' && gzungetc('2', f) == '2', "gzungetc");
	must(gzseek(f, 5000, SEEK_SET) == 5000 && gzread(f, back, N) > 900, "gzread");
	tell("file", (unsigned long)gztell(f), (unsigned long)gzeof(f));
	must(gzrewind(f) == 0 && gzclose(f) == Z_OK, "gzrewind");
	unlink(path);
}

int main(int argc, char **argv)
{
	uLongf n = OUT;

	fill();
	must(argc == 2 && compress2(out, &n, in, N, 5) == Z_OK, "compress2");
	tell("compress2", n, compressBound(N));
	for (int i = 0; i < 3; i++) {
		streams();
		dictionary();
		copies();
		damaged();
		callbacks();
		files(argv[1]);
	}
	printf("all %08lx\n", sum);
	return 0;
}
