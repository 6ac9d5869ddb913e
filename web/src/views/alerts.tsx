// SPDX-License-Identifier: Apache-2.0
// alerts.tsx - what the manager has noticed by itself: figures that are not as usual, and the reason that a dig found.
import { api } from "../api/client";
import type { Alert } from "../api/types";
import { moment } from "../base/format";
import { useLoad } from "../base/load";
import { Name, Panel } from "../base/parts";
import { app } from "../state";
import { link } from "../base/route";
import { Trouble } from "./shared";

export function Alerts() {
	const loaded = useLoad("alerts|" + app.value, (s) => api.alerts(app.value, s), 15000, "alert"), rows = loaded.data?.alerts ?? [];
	if (!rows.length) return <Trouble text={loaded.error} />;
	return <Panel title="Not as usual"><table>
		<thead><tr><th scope="col">Since</th><th scope="col">Application</th><th scope="col">State</th><th scope="col">What</th>
			<th scope="col">Why</th></tr></thead>
		<tbody>{rows.map((a) => <tr key={a.id}><td class="time">{moment(a.began_ms ?? 0)}</td>
			<td><a href={"#/overview?app=" + encodeURIComponent(a.application ?? "")}><Name text={a.application ?? ""} limit={60} /></a></td>
			<td><span class={"tag " + (a.state === "open" ? "bad" : "")}>{a.state === "open" ? a.kind : "good again"}</span></td>
			<td><Name text={a.text ?? ""} limit={240} /></td><td><Why a={a} /></td></tr>)}</tbody></table></Panel>;
}

function Why({ a }: { a: Alert }) {
	if (a.digging) return <span class="working">looking</span>;
	const text = a.finding ?? a.why_no_finding ?? "";
	return a.dig && a.finding ? <a href={link("why", a.dig)}><Name text={text} limit={400} /></a> : <Name text={text} limit={240} />;
}
