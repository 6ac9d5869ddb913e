/* SPDX-License-Identifier: Apache-2.0 */
/* find.h - what follows from the facts that dig has gathered; private to dig. */
#ifndef PLAN_FIND_H
#define PLAN_FIND_H

#include "plan/dig/dig_state.h"

void find_tell_look(struct dig *d);
bool find_is_asked_for(const struct dig *d,
		       struct slice name); /* it may be what is to be explained */
bool find_root(const struct dig *d);	   /* some candidate has returned */
/* The hooks have seen some calls, and about as much time as the samples, and no call of a candidate has
 * begun that runs still; else slow calls are rare, or take longer yet. */
bool find_root_is_whole(const struct dig *d);
/* Much of the time is further down than any candidate that has returned. */
bool find_root_is_deeper(const struct dig *d);
/* Chooses the root and says whether it is slow.  False: nothing is left to be done, since there is
 * nothing whose time could be explained. */
bool find_decide(struct dig *d);
void find_unmeasured(struct dig *d);	     /* the answer from samples alone */
bool find_is_gc(const struct dig_answer *a); /* garbage collection is what makes it slow */

uint64_t find_below(struct dig *d); /* fills d->under; gives its samples */
void find_trail(struct dig *d);	    /* fills d->trail, and begins the graph */
void find_release_joints(struct dig *d);
/* The time is in a task of another thread that the root waits for; go_to: below that from now on. */
bool find_goes_to_task(const struct dig *d);
void find_go_to_task(struct dig *d);
void find_more_graph(struct dig *d);
bool find_ends_waiting(const struct dig *d); /* the trail: for a task of another thread */
/* Samples are too few to say where the time of the guilty method goes, or go on where no hook is:
 * what it calls has to be measured.  ask: begins the graph with it. */
bool find_is_deeper(struct dig *d);
void find_ask_deeper(struct dig *d);
bool find_is_lookup(struct slice name);	 /* asks a map or a cache */
bool find_is_sending(struct slice name); /* asks another process, and gives a future */

bool find_returns(struct dig *d);  /* the root has returned often enough to be measured */
void find_crossing(struct dig *d); /* the last task of another thread on the path */
bool find_branch(struct dig *d);   /* the guilty method, as measured; true: that is clear */
void find_tell_branch(struct dig *d);
void find_contexts(struct dig *d);
void find_why(struct dig *d);

void find_watched(struct dig *d); /* chooses methods whose arguments are wanted */
double find_limit(struct dig *d,
		  unsigned watched); /* from which its calls are slow, ns; 0: none are */
/* The condition that tells them from others, if any. */
void find_split(struct dig *d, unsigned watched, struct split_answer *out);
void find_condition(struct dig *d);

#endif
