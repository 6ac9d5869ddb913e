// SPDX-License-Identifier: Apache-2.0
// main.tsx - the frame around all views: where one is, what Sonde costs, whether news arrive.
import "./main.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { followTheme, theme, type Theme } from "./base/colour";
import { share } from "./base/format";
import { followAddress, go, link, put, route } from "./base/route";
import { Modal, Name, Toasts } from "./base/parts";
import { api, locked } from "./api/client";
import { arrivals, follow, link as news } from "./api/live";
import { app, applications, cost, manager, refresh, trouble } from "./state";
import { Overview } from "./views/overview";
import { Components } from "./views/components";
import { Traces } from "./views/traces";
import { TracePage } from "./views/trace";
import { Hot } from "./views/hot";
import { Digs } from "./views/dig";
import { Plans } from "./views/plans";

const VIEWS: [string, string, string][] = [["overview", "Overview", "o"], ["components", "Components", "c"],
	["traces", "Traces", "t"], ["hot", "Hot spots", "h"], ["why", "Why?", "w"], ["plans", "Plans", "p"]];

function View() {
	const r = route.value;
	switch (r.view) {
	case "components": return <Components />;
	case "traces": return r.item ? <TracePage id={r.item} /> : <Traces />;
	case "hot": return <Hot item={r.item} />;
	case "why": return <Digs id={r.item} />;
	case "plans": return <Plans />;
	default: return <Overview />;
	}
}

function Logo() {
	return <svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0d6b74" />
		<path d="M5 19h6l3-11 5 17 3-9h5" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"
			stroke-linejoin="round" /></svg>;
}

function Chooser() {
	const all = applications.value ?? [];
	if (all.length === 0) return null;
	return <label><span class="hidden">Application</span>
		<select value={app.value} onChange={(e) => put({ app: e.currentTarget.value, instance: "" })}>
			{all.length > 1 && <option value="">All applications</option>}
			{all.map((a) => <option key={a.name} value={a.name}>{a.name.slice(0, 60)}</option>)}
		</select></label>;
}

function Cost() {
	const c = cost.value;
	return <span class="cost" title="The most that Sonde takes of the time of one observed process, by its own measurement">
		Sonde costs <b>{c == null ? "–" : share(c)}</b></span>;
}

function News() {
	const how = trouble.value ? "away" : news.value;
	const [mark, word] = how === "live" ? ["good", "live"] : how === "connecting" ? ["warn", "connecting"] : ["bad", "away"];
	return <span class="faint" role="status"><i class={"dot " + mark} />{word}</span>;
}

function Look() {
	const next: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
	return <button class="quiet" title="Light, dark, or as the system says"
		onClick={() => { theme.value = next[theme.value]; }}>Theme: {theme.value}</button>;
}

function Keys(props: { onClose: () => void }) {
	const rows: [string, string][] = [...VIEWS.map(([, name, key]): [string, string] => ["g " + key, name]),
		["/", "to the search field"], ["↑ ↓ ← →", "in trees: up, down, close, open; in traces: previous, next call"],
		["Space", "in the tree: hook or unhook"], ["w s a d", "in traces: zoom in, out, left, right"],
		["p", "in the live view: hold the picture, go on"], ["Enter", "zoom to the chosen call or frame"], ["Esc", "all again, or close"], ["?", "this list"]];
	return <Modal title="Keys" onClose={props.onClose}>
		<dl class="keys">{rows.map(([k, what]) => <><dt>{k.split(" ").map((x) => <><kbd>{x}</kbd> </>)}</dt><dd>{what}</dd></>)}</dl>
	</Modal>;
}

function Login() {
	const [token, setToken] = useState(""), [wrong, setWrong] = useState("");
	const send = async (e: Event) => {
		e.preventDefault();
		try {
			await api.login(token.trim());
			locked.value = false;
			void refresh();
			follow();
		} catch (problem) {
			setWrong((problem as Error).message);
		}
	};
	return <Modal title="A token, please" onClose={() => { locked.value = false; }}>
		<form class="stack" onSubmit={send}>
			<p>This manager wants to know who asks. Its tokens are in the file that it named when it started.</p>
			<label class="field"><span>Token</span>
				<input type="password" autocomplete="current-password" value={token}
					onInput={(e) => setToken(e.currentTarget.value)} /></label>
			{wrong && <p class="error" role="alert">{wrong}</p>}
			<div><button class="primary" disabled={!token.trim()}>Go on</button></div>
		</form>
	</Modal>;
}

function typing(e: KeyboardEvent): boolean {
	const at = e.target as HTMLElement;
	return at.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
}

// "g" and a letter goes to a view, as in many programs.
function useKeys(help: () => void): void {
	useEffect(() => {
		let after = 0;
		const key = (e: KeyboardEvent) => {
			if (e.ctrlKey || e.metaKey || e.altKey || typing(e)) return;
			const view = VIEWS.find(([, , k]) => k === e.key);
			if (e.timeStamp < after && view) {
				e.preventDefault();
				e.stopImmediatePropagation();
				go(view[0]);
			} else if (e.key === "?") {
				help();
			} else if (e.key === "/") {
				e.preventDefault();
				document.querySelector<HTMLElement>("[data-search], main input[type=search]")?.focus();
			}
			after = e.key === "g" ? e.timeStamp + 1200 : 0;
		};
		addEventListener("keydown", key, true);
		return () => removeEventListener("keydown", key, true);
	}, []);
}

function Frame() {
	const [help, setHelp] = useState(false), r = route.value;
	useKeys(() => setHelp(true));
	const name = VIEWS.find(([v]) => v === r.view)?.[1] ?? "Overview";
	useEffect(() => { document.title = name + (app.value ? " · " + app.value.slice(0, 60) : "") + " · Sonde"; });
	return <>
		<a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>
			To the content</a>
		<header class="top">
			<a class="brand" href={link("overview")}><Logo />Sonde</a>
			<Chooser />
			<nav aria-label="Views">{VIEWS.map(([view, text]) =>
				<a key={view} href={link(view)} aria-current={r.view === view ? "page" : undefined}>{text}</a>)}</nav>
			<div class="right"><Cost /><News /><Look />
				<button class="quiet" aria-label="Keys" onClick={() => setHelp(true)}>?</button></div>
		</header>
		{trouble.value && <div class="banner" role="alert"><Name text={trouble.value} /> It is asked again every few seconds.</div>}
		{manager.value?.role === "view" && <div class="banner">You may look, but not change anything.</div>}
		<main id="main" tabIndex={-1}><View /></main>
		<Toasts />
		{help && <Keys onClose={() => setHelp(false)} />}
		{locked.value && <Login />}
	</>;
}

followTheme();
followAddress();
void refresh();
follow();
arrivals("instance", () => void refresh());
arrivals("figures", () => void refresh());
setInterval(() => { if (!document.hidden) void refresh(); }, 5000);
const root = document.createElement("div");
root.id = "root";
document.body.append(root);
render(<Frame />, root);
