/* SPDX-License-Identifier: Apache-2.0 */
/* guilty.c - a hot function with three callers in two threads; export_page calls it a thousand times. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

static volatile double sink;

ALONE double price(int from)
{
	double sum = 0;

	for (int i = 0; i < 300; i++)
		sum += sqrt(i + from) * 1.0001;
	return sum;
}

ALONE double cart_total(int page)
{
	return price(page) + price(page + 1) + 1;
}

ALONE double preview(int page)
{
	return price(page) * 2;
}

ALONE double export_page(int page)
{
	double sum = page;

	for (int i = 0; i < 1000; i++)
		sum += price(i);
	return sum;
}

ALONE double render(int page)
{
	return cart_total(page) + preview(page) + export_page(page);
}

ALONE static void *serve(void *unused)
{
	for (int page = 0;; page++) {
		sink = render(page);
		usleep(200);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, serve, NULL);
	puts("ready");
	fflush(stdout);
	for (int page = 0;; page++) {
		sink += preview(page);
		usleep(1000);
	}
}
