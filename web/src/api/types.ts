// SPDX-License-Identifier: Apache-2.0
// types.ts - what the manager answers; docs/api.md says what the fields mean.  All may be missing.

export interface Manager { version: string; host: string; started_ms: number; now_ms: number; role: "view" | "operate" }

export interface Application {
	name: string;
	connected?: number;
	known?: number;
	methods?: number;
	rate?: number;
	errors_rate?: number;
	mean_ns?: number;
	overhead_share?: number;
	plan_version?: number;
	plan_rules?: number;
	last_seen_ms?: number;
	instances?: Instance[];
}

export interface Instance {
	id: string;
	application: string;
	pid?: number;
	host?: string;
	user?: string;
	state: string;
	since_ms?: number;
	last_seen_ms?: number;
	jvm?: string;
	rules?: number;
	methods?: number;
	threads?: number;
	memory?: number;
	memory_limit?: number;
	contexts_lost?: number;
	overhead?: { share?: number };
	why?: string;
}

export interface MethodRow {
	method: string;
	level?: string;
	one_in?: number;
	calls?: number;
	errors?: number;
	total_ns?: number;
	low_ns?: number;
	high_ns?: number;
	self_ns?: number;
	mean_ns?: number;
	max_ns?: number;
	p50_ns?: number;
	p99_ns?: number;
	active?: number;
	stalls?: number;
	rate?: number;
	instances?: number;
	gone?: boolean;
}

type Column = (number | null)[];

export interface Series {
	from_ms: number;
	to_ms: number;
	step_ms: number;
	t_ms: number[];
	calls: Column;
	errors: Column;
	mean_ns: Column;
	p50_ns: Column;
	p90_ns: Column;
	p99_ns: Column;
	active_peak: Column;
	stalls: Column;
}

// In pre-order; method: index into methods; flags: 1 hooked, 2 has data, 4 only in a context or under a condition.
export interface TreeAnswer {
	methods: string[];
	columns: { depth: number[]; method: number[]; calls: number[]; errors: number[]; total_ns: number[]; self_ns: number[]; flags: number[] };
	total?: number;
	omitted?: number;
	instances?: number;
}

export interface Callee {
	method: string;
	kind?: string;
	sites?: number;
	lines?: string;
	found?: boolean;
	abstract?: boolean;
	native?: boolean;
	hooked?: boolean;
	has_data?: boolean;
}

export interface PlanRule { text: string; expires_ms?: number | null; origin?: string }
export interface RuleStatus { text: string; state: string; methods?: number; classes?: number; calls?: number; why?: string }

export interface Plan {
	application: string;
	version: number;
	changed_ms?: number;
	by?: string;
	comment?: string;
	rules: PlanRule[];
	traces?: { keep?: boolean; at_least_ns?: number; one_in?: number };
	status?: { instance: string; version?: number; rules: RuleStatus[] }[];
}

export interface Version { version: number; changed_ms: number; by: string; comment?: string; added: string[]; removed: string[] }
export interface Problem { line?: number; column?: number; text: string; hint?: string }
export interface RulesCheck { ok: boolean; rules?: string[]; problems?: Problem[] }

export interface TraceRow {
	id: string;
	application: string;
	instance: string;
	root: string;
	thread?: string;
	when_ms: number;
	elapsed_ns: number;
	calls?: number;
	parts?: number;
	failed?: boolean;
	slow?: boolean;
	cut?: boolean;
	data?: Record<string, string>;
}

export interface TraceAnswer extends Omit<TraceRow, "parts"> {
	missed?: number;
	names: { method: string; conditional?: boolean }[];
	parts: { part: number; from: number; call: number; tid: number; thread?: string; submitted_ns: number;
		begin_ns: number; end_ns: number; open?: boolean; never_begun?: boolean; calls: number[][] }[];
}

export interface Heatmap { from_ms: number; to_ms: number; step_ms: number; bounds_ns: number[]; cells: number[][]; failed?: number[][]; total: number }

export interface HotFrame {
	depth: number;
	method: string;
	native?: boolean;
	running?: number;
	in_native?: number;
	blocked?: number;
	waiting?: number;
	parked?: number;
	sleeping?: number;
}

export interface Hotspots { instance: string; seconds?: number; samples?: number; kind?: string; frames: HotFrame[] }

export interface StacksAnswer {
	instance: string;
	seconds: number;
	mode: "cpu" | "wall";
	samples: number;
	lost: number;
	wall_ns: number;
	cpu_ns: number;
	own_ns: number;
	period_ns: number;
	engine: string;
	note: string;
	places: { id: number; kind: string; name: string }[];
	threads: { id: number; name: string }[];
	stacks: { thread: number; state: "running" | "calls" | "blocked" | "waiting" | "parked" | "sleeping"; count: number; ns: number;
		broken?: boolean; places: number[] }[]; // the innermost first
}

export interface Dig {
	id: string;
	instance: string;
	application: string;
	state: "running" | "slow" | "nothing" | "failed" | "cancelled";
	started_ms?: number;
	ended_ms?: number;
	by?: string;
	method?: string;
	lines?: string[];
	answer?: Record<string, unknown>;
	rules?: string[];
	why?: string;
	pushed_version?: number;
}

export interface Overhead {
	instances: { instance: string; application: string; share?: number; hooks_share?: number; agent_share?: number;
		calls_per_s?: number; methods?: number }[];
	manager?: Record<string, unknown>;
}

export interface Alert {
	id: string;
	application?: string;
	kind?: "slow" | "errors" | "stalls";
	state?: "open" | "over";
	began_ms?: number;
	text?: string;
	dig?: string;
	digging?: boolean;
	finding?: string;
	why_no_finding?: string;
}
