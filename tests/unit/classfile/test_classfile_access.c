/* SPDX-License-Identifier: Apache-2.0 */
/* Which flags may stand together, in a class, on a field and on a method. */
#include "test.h"

#include "classes.h"

/* Reads and checks the class; releases the maker. */
static int check(struct class_maker *m)
{
	struct class *cls = NULL;
	struct arena mem;
	int rc;

	arena_init(&mem);
	rc = class_read(&mem, maker_bytes(m), &cls, NULL);
	if (CHECK_INT(rc, 0, NULL))
		rc = class_check(cls, NULL);
	class_release(cls);
	arena_release(&mem);
	maker_release(m);
	return rc;
}

enum {
	PUB = ACC_PUBLIC,
	PRI = ACC_PRIVATE,
	PRO = ACC_PROTECTED,
	STA = ACC_STATIC,
	FIN = ACC_FINAL,
	SUP = ACC_SUPER,
	SYN = ACC_SYNCHRONIZED,
	VOL = ACC_VOLATILE,
	BRI = ACC_BRIDGE,
	TRA = ACC_TRANSIENT,
	NAT = ACC_NATIVE,
	INT = ACC_INTERFACE,
	ABS = ACC_ABSTRACT,
	STR = ACC_STRICT,
	ANN = ACC_ANNOTATION,
	ENU = ACC_ENUM,
};

static const struct {
	uint16_t major, access;
	int rc;
} class_flags[] = {
	{ 52, PUB | SUP, 0 },
	{ 52, 0, 0 },
	{ 52, PUB | SUP | FIN, 0 },
	{ 52, SUP | ABS, 0 },
	{ 52, SUP | ABS | FIN, E_ACCESS },
	{ 52, INT | ABS, 0 },
	{ 52, INT, E_ACCESS },
	{ 49, INT, 0 }, /* abstract was forgotten now and then */
	{ 50, INT, E_ACCESS },
	{ 52, INT | ABS | FIN, E_ACCESS },
	{ 52, INT | ABS | SUP, E_ACCESS },
	{ 48, INT | ABS | SUP, 0 },
	{ 52, INT | ABS | ENU, E_ACCESS },
	{ 48, INT | ABS | ENU, 0 },
	{ 52, INT | ABS | ANN, 0 },
	{ 52, SUP | ANN, E_ACCESS },
	{ 48, SUP | ANN, 0 },
	{ 52, SUP | ENU, 0 },
	{ 52, SUP | PRI | PRO | STA | NAT, 0 }, /* mean nothing on a class */
	{ 52, SUP | ACC_MODULE, 0 },		/* means nothing before 53 */
	{ 53, SUP | ACC_MODULE, E_ACCESS },
};

TEST(access_checks_flags_of_classes)
{
	for (size_t i = 0; i < COUNT(class_flags); i++) {
		struct class_maker m;

		maker_init(&m, "A", class_flags[i].major);
		m.access = class_flags[i].access;
		CHECK_INT(check(&m), class_flags[i].rc, NULL);
	}
}

static const struct {
	uint16_t major, access;
	bool interface;
	int rc;
} field_flags[] = {
	{ 52, 0, false, 0 },
	{ 52, PUB | STA | FIN | TRA, false, 0 },
	{ 52, PUB | PRI, false, E_ACCESS },
	{ 52, PUB | PRO, false, E_ACCESS },
	{ 52, PRI | PRO, false, E_ACCESS },
	{ 52, FIN | VOL, false, E_ACCESS },
	{ 52, VOL | TRA, false, 0 },
	{ 52, INT | ABS | NAT, false, 0 }, /* mean nothing on a field */
	{ 52, PUB | STA | FIN, true, 0 },
	{ 52, STA | FIN, true, E_ACCESS },
	{ 52, PUB | FIN, true, E_ACCESS },
	{ 52, PUB | STA, true, E_ACCESS },
	{ 52, PUB | STA | FIN | VOL, true, E_ACCESS },
	{ 52, PUB | STA | FIN | TRA, true, E_ACCESS },
	{ 52, PUB | STA | FIN | ENU, true, E_ACCESS },
	{ 48, PUB | STA | FIN | ENU, true, 0 },
	{ 52, PUB | STA | FIN | ACC_SYNTHETIC, true, 0 },
};

TEST(access_checks_flags_of_fields)
{
	for (size_t i = 0; i < COUNT(field_flags); i++) {
		struct class_maker m;

		maker_init(&m, "A", field_flags[i].major);
		if (field_flags[i].interface)
			m.access = INT | ABS;
		maker_field(&m, field_flags[i].access, "f", "I", NULL);
		CHECK_INT(check(&m), field_flags[i].rc, NULL);
	}
}

static const struct maker_code just_return = { .code = STATIC_BYTES(OP_RETURN) };

enum where { IN_CLASS, IN_INTERFACE };

static const struct {
	uint16_t major, access;
	enum where where;
	const char *name;
	int rc;
} method_flags[] = {
	{ 52, PUB | FIN | SYN, IN_CLASS, "m", 0 },
	{ 52, PUB | PRI, IN_CLASS, "m", E_ACCESS },
	{ 52, PRI | PRO, IN_CLASS, "m", E_ACCESS },
	{ 52, PUB | ABS, IN_CLASS, "m", 0 },
	{ 52, ABS | FIN, IN_CLASS, "m", E_ACCESS },
	{ 52, ABS | NAT, IN_CLASS, "m", E_ACCESS },
	{ 52, ABS | PRI, IN_CLASS, "m", E_ACCESS },
	{ 52, ABS | STA, IN_CLASS, "m", E_ACCESS },
	{ 52, ABS | SYN, IN_CLASS, "m", E_ACCESS },
	{ 48, ABS | SYN, IN_CLASS, "m", 0 },
	{ 52, ABS | STR, IN_CLASS, "m", E_ACCESS },
	{ 48, ABS | STR, IN_CLASS, "m", 0 },
	{ 61, ABS | STR, IN_CLASS, "m", 0 }, /* strictfp is gone */
	{ 52, NAT | SYN | STA, IN_CLASS, "m", 0 },
	{ 52, PRI, IN_CLASS, "<init>", 0 },
	{ 52, STA, IN_CLASS, "<init>", E_ACCESS },
	{ 52, FIN, IN_CLASS, "<init>", E_ACCESS },
	{ 52, SYN, IN_CLASS, "<init>", E_ACCESS },
	{ 52, NAT, IN_CLASS, "<init>", E_ACCESS },
	{ 52, ABS, IN_CLASS, "<init>", E_ACCESS },
	{ 52, BRI, IN_CLASS, "<init>", E_ACCESS },
	{ 48, BRI, IN_CLASS, "<init>", 0 },
	{ 52, ACC_VARARGS, IN_CLASS, "<init>", 0 },
	{ 52, STA, IN_CLASS, "<clinit>", 0 },
	{ 52, STA | ABS | PUB | PRI, IN_CLASS, "<clinit>", 0 }, /* the rest is ignored */
	{ 51, 0, IN_CLASS, "<clinit>", E_ACCESS },
	{ 50, ABS | NAT, IN_CLASS, "<clinit>", 0 },
	{ 51, PUB | ABS, IN_INTERFACE, "m", 0 },
	{ 51, ABS, IN_INTERFACE, "m", E_ACCESS },
	{ 51, PUB, IN_INTERFACE, "m", E_ACCESS },
	{ 51, PUB | ABS | SYN, IN_INTERFACE, "m", E_ACCESS },
	{ 48, PUB | ABS | SYN, IN_INTERFACE, "m", 0 },
	{ 51, PUB | ABS | STR, IN_INTERFACE, "m", E_ACCESS },
	{ 51, PUB | STA, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB, IN_INTERFACE, "m", 0 }, /* a default method */
	{ 52, PUB | STA, IN_INTERFACE, "m", 0 },
	{ 52, PRI, IN_INTERFACE, "m", 0 },
	{ 52, 0, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB | PRI, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PRO, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB | FIN, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB | NAT, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB | SYN, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PRI | ABS, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB | STA | ABS, IN_INTERFACE, "m", E_ACCESS },
	{ 52, PUB | ABS | STR, IN_INTERFACE, "m", E_ACCESS },
	{ 61, PUB | ABS | STR, IN_INTERFACE, "m", 0 },
	{ 52, PUB, IN_INTERFACE, "<init>", E_NAME },
	{ 52, STA, IN_INTERFACE, "<clinit>", 0 },
};

TEST(access_checks_flags_of_methods)
{
	for (size_t i = 0; i < COUNT(method_flags); i++) {
		uint16_t access = method_flags[i].access;
		const char *name = method_flags[i].name;
		struct class_maker m;

		maker_init(&m, "A", method_flags[i].major);
		if (method_flags[i].where == IN_INTERFACE)
			m.access = INT | ABS;
		if (access & (ABS | NAT) && strcmp(name, "<clinit>") != 0)
			maker_method(&m, access, name, "()V", NULL);
		else
			maker_code(&m, access, name, "()V", just_return);
		CHECK_INT(check(&m), method_flags[i].rc, name);
	}
}
