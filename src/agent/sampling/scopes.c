/* SPDX-License-Identifier: Apache-2.0 */
/* scopes.c - a table of PcDescs by address leads to records, one for each inlined method: where the
 * record of its caller is, its Method as an index, its bytecode index. */
#include "agent/sampling/scopes.h"

#include "agent/sampling/peek.h"

enum {
	LOW = 192,    /* bytes below end a number, higher ones go on; less one if shifted */
	SIX_BITS = 6, /* each further byte counts 64 times as much */
	NUMBER_BYTES = 5,
	RECORD_BYTES = 3 * NUMBER_BYTES,
	PC_DESC = 16,
	CHUNK = 32,  /* PcDescs that are read at once */
	NO_BCI = -1, /* what is added to stored ones */
};

bool scopes_number(const uint8_t **p, const uint8_t *end, bool shifted, uint32_t *out)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < NUMBER_BYTES && *p < end; i++) {
		uint32_t b = *(*p)++;

		if (shifted && !b--)
			return false;
		sum += b << (i * SIX_BITS);
		if (b < (shifted ? LOW - 1u : LOW) || i == NUMBER_BYTES - 1) {
			*out = sum;
			return true;
		}
	}
	return false;
}

struct tables { /* of one nmethod; addresses */
	uint64_t pcs, n, scopes, metadata;
};

static void find_tables(const struct vm_layout *l, uint64_t at, struct tables *t)
{
	uint64_t data = at, end;

	if (l->code.apart) {
		data = peek_word(at + l->code.data);
		end = peek_number(at + l->code.data_size);
		t->scopes = data + peek_number(at + l->code.scopes);
		t->metadata = peek_word(at + l->code.metadata) +
			      peek_number(at + l->code.relocation_size);
	} else {
		end = peek_number(at + l->code.pcs_end);
		t->scopes = peek_word(at + l->code.scopes);
		t->metadata = at + peek_number(at + l->code.metadata);
	}
	t->pcs = data + peek_number(at + l->code.pcs);
	t->n = data && data + end > t->pcs ? (data + end - t->pcs) / PC_DESC : 0;
}

/* The record of the first PcDesc at or behind this offset; 0: none. */
static uint32_t record_at(const struct tables *t, int32_t offset)
{
	uint64_t low = 0, high = t->n;
	int32_t desc[CHUNK][PC_DESC / sizeof(int32_t)];

	while (high - low >= CHUNK) {
		uint64_t middle = low + (high - low) / 2;

		if (!peek(t->pcs + middle * PC_DESC, desc, PC_DESC))
			return 0;
		if (desc[0][0] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	high = high < t->n ? high + 1 : high; /* the one there may be it */
	if (low == high || !peek(t->pcs + low * PC_DESC, desc, (size_t)(high - low) * PC_DESC))
		return 0;
	for (uint64_t i = 0; i < high - low; i++)
		if (desc[i][0] >= offset)
			return desc[i][1] < 0 ? 0 : (uint32_t)desc[i][1];
	return 0;
}

/* Reads one record; gives that of the caller, 0: it was the outermost. */
static uint32_t read_record(const struct vm_layout *l, const struct tables *t, uint32_t at,
			    struct scope *out)
{
	uint8_t bytes[RECORD_BYTES];
	const uint8_t *p = bytes, *end = bytes + sizeof(bytes);
	uint32_t sender, index, bci;

	out->method = 0;
	if (!peek(t->scopes + at, bytes, sizeof(bytes)) ||
	    !scopes_number(&p, end, l->code.shifted, &sender) ||
	    !scopes_number(&p, end, l->code.shifted, &index) ||
	    !scopes_number(&p, end, l->code.shifted, &bci) || !index)
		return 0;
	out->method = peek_word(t->metadata + 8 * (uint64_t)(index - 1));
	out->bci = (int32_t)bci + NO_BCI;
	return sender < at ? sender : 0;
}

size_t scopes_at(const struct vm_layout *l, const struct blob *blob, uint64_t pc, bool exact,
		 struct scope out[SCOPES_MAX])
{
	struct tables t;
	uint32_t record;
	size_t n = 0;

	if (!l->code.has_scopes)
		return 0;
	find_tables(l, blob->at, &t);
	record = record_at(&t, (int32_t)(pc - blob->code) + !exact);
	while (record && n < SCOPES_MAX) {
		record = read_record(l, &t, record, &out[n]);
		if (!out[n].method)
			return 0;
		n++;
	}
	return n;
}
