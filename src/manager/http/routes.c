/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - the paths of the API, as docs/api.md has them. */
#include "manager/http/request.h"

#define V "/api/v1"
#define APP V "/applications/*"

const struct route api_routes[] = {
	{ "GET", V, ROLE_VIEW, api_manager, NULL },
	{ "GET", V "/", ROLE_VIEW, api_manager, NULL },
	{ "POST", V "/login", ROLE_NONE, api_login, "login" },
	{ "POST", V "/logout", ROLE_NONE, api_logout, NULL },
	{ "GET", V "/health", ROLE_NONE, api_health, NULL },
	{ "GET", V "/applications", ROLE_VIEW, api_applications, NULL },
	{ "GET", APP, ROLE_VIEW, api_application, NULL },
	{ "GET", APP "/methods", ROLE_VIEW, api_methods, NULL },
	{ "GET", APP "/series", ROLE_VIEW, api_series, NULL },
	{ "GET", APP "/tree", ROLE_VIEW, api_tree, NULL },
	{ "GET", APP "/callees", ROLE_VIEW, api_callees, NULL },
	{ "GET", APP "/explain", ROLE_VIEW, api_explain, NULL },
	{ "GET", APP "/plan", ROLE_VIEW, api_plan, NULL },
	{ "PUT", APP "/plan", ROLE_OPERATE, api_plan_put, "plan" },
	{ "POST", APP "/plan/rules", ROLE_OPERATE, api_plan_rules, "rules" },
	{ "GET", APP "/plan/history", ROLE_VIEW, api_plan_history, NULL },
	{ "GET", APP "/plan/history/*", ROLE_VIEW, api_plan_version, NULL },
	{ "POST", APP "/plan/undo", ROLE_OPERATE, api_plan_undo, "undo" },
	{ "POST", V "/rules/check", ROLE_VIEW, api_rules_check, NULL },
	{ "GET", V "/instances", ROLE_VIEW, api_instances, NULL },
	{ "GET", V "/instances/*", ROLE_VIEW, api_instance, NULL },
	{ "GET", V "/instances/*/hotspots", ROLE_OPERATE, api_hotspots, "hotspots" },
	{ "GET", V "/traces", ROLE_VIEW, api_traces, NULL },
	{ "GET", V "/traces/heatmap", ROLE_VIEW, api_heatmap, NULL },
	{ "GET", V "/traces/*", ROLE_VIEW, api_trace, NULL },
	{ "GET", V "/traces/*/perfetto", ROLE_VIEW, api_trace_perfetto, NULL },
	{ "GET", V "/traces/*/otlp", ROLE_VIEW, api_trace_otlp, NULL },
	{ "GET", V "/digs", ROLE_VIEW, api_digs, NULL },
	{ "POST", V "/digs", ROLE_OPERATE, api_dig_start, "dig" },
	{ "GET", V "/digs/*", ROLE_VIEW, api_dig, NULL },
	{ "DELETE", V "/digs/*", ROLE_OPERATE, api_dig_cancel, "cancel" },
	{ "GET", V "/digs/*/events", ROLE_VIEW, api_dig_events, NULL },
	{ "POST", V "/digs/*/push", ROLE_OPERATE, api_dig_push, "push" },
	{ "GET", V "/alerts", ROLE_VIEW, api_alerts, NULL },
	{ "GET", V "/alerts/*", ROLE_VIEW, api_alert, NULL },
	{ "GET", V "/events", ROLE_VIEW, api_events, NULL },
	{ "GET", V "/overhead", ROLE_VIEW, api_overhead, NULL },
	{ "GET", V "/audit", ROLE_VIEW, api_audit, NULL },
	{ "GET", "/metrics", ROLE_VIEW, api_metrics, NULL },
	{ NULL, NULL, ROLE_NONE, NULL, NULL },
};
