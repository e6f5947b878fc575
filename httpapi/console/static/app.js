// The approvals page. It stores nothing: stamps and answers stay in memory, and the list
// closes ten minutes after the touch that opened it.

import { digestOf, newPasskey, shownDigest, signed } from "./wire.js";
import { card, element, plain } from "./view.js";

const openFor = 10 * 60 * 1000;
const most = 100; // in the list: one touch is for one page of it
const find = (id) => document.getElementById(id);
const { rpId, origin } = await (await fetch("config.json", { cache: "no-store" })).json();

let list = null; // sends the query again
let closing = 0; // timer
let organization = "";

function say(message, problem = false) {
  const status = find("status");
  status.textContent = plain(message);
  status.classList.toggle("problem", problem);
}

// attempt runs an action with its button disabled, and reports errors.
async function attempt(button, action) {
  button.disabled = true;
  try {
    await action();
  } catch (problem) {
    const refused = problem.name === "NotAllowedError";
    say(refused ? "The passkey was not used: the touch was cancelled, or took too long." : problem.message, true);
  } finally {
    button.disabled = false;
  }
}

function close() {
  clearTimeout(closing);
  list = null;
  find("activities").replaceChildren();
  find("refresh").hidden = true;
}

async function open() {
  close();
  organization = find("organization").value.trim();
  const status = find("filter").value;
  const query = { organizationId: organization, timestampMs: String(Date.now()), paginationOptions: { limit: String(most) } };
  if (status) query.filterByStatus = [status];
  list = await signed("query/list_activities", query, rpId);
  closing = setTimeout(() => { close(); say("The list was closed after ten minutes."); }, openFor);
  await refresh();
}

async function refresh() {
  if (!list) return;
  const { activities } = await list();
  await show(activities);
  find("refresh").hidden = false;
  const more = activities.length < most ? "" : " These are the newest; there may be older ones.";
  say(activities.length === 0 ? "Nothing to show." : activities.length + (activities.length === 1 ? " activity." : " activities.") + more);
}

async function show(activities) {
  const cards = [];
  for (const activity of activities) cards.push(await shown(activity));
  find("activities").replaceChildren(...cards);
}

// problemOf returns why an activity must not be voted on: what is shown does not match
// its digests. It returns "" if there is no problem.
async function problemOf(activity) {
  const review = activity.review;
  const body = activity.votes[0].message;
  if (body && "sha256:" + (await digestOf(body)) !== activity.fingerprint) return "The request does not match its fingerprint.";
  if (!review) return "";
  if ((await digestOf(review.summary)) !== review.summaryDigest) return "The summary does not match its digest.";
  if ((await shownDigest(review)) !== review.shown) return "What is shown does not match what a vote would commit to.";
  return "";
}

async function shown(activity) {
  const problem = await problemOf(activity);
  const actions = [];
  if (!problem && activity.review) {
    if (activity.canApprove) actions.push(button("Approve", "approve", activity));
    if (activity.canReject) actions.push(button("Reject", "reject", activity));
  }
  return card(activity, problem, actions);
}

const button = (label, kind, activity) =>
  element("button", { type: "button", class: kind, "aria-describedby": "title-" + activity.id, onclick: (event) => attempt(event.target, () => vote(kind, activity)) }, label);

// sent sends what was stamped. If no answer arrives, it sends the same once more; it is done only
// once.
async function sent(send) {
  try {
    return await send();
  } catch (problem) {
    if (!(problem instanceof TypeError)) throw problem; // from fetch: no answer arrived
    return send();
  }
}

// vote asks for a touch over the exact vote that is sent.
async function vote(kind, activity) {
  const send = await signed("submit/" + kind + "_activity", {
    type: "ACTIVITY_TYPE_" + kind.toUpperCase() + "_ACTIVITY",
    timestampMs: String(Date.now()),
    organizationId: organization,
    parameters: { fingerprint: activity.fingerprint, shown: activity.review.shown },
  }, rpId);
  const answer = await sent(send);
  const replaced = await shown(answer.activity);
  document.querySelector(`article[data-id="${CSS.escape(activity.id)}"]`)?.replaceWith(replaced); // unless the list was closed meanwhile
  replaced.tabIndex = -1;
  replaced.focus();
  say((kind === "approve" ? "Approved. " : "Rejected. ") + "The activity " + replaced.querySelector("h3").textContent.split(", ").at(-1) + ".");
}

// stop halts signing, or asks to resume it.
async function stop(kind) {
  const parameters = {};
  if (find("user").value.trim()) parameters.userId = find("user").value.trim();
  if (kind === "halt" && find("answers").checked) parameters.answers = true;
  const organizationId = find("organization").value.trim();
  if (!organizationId) throw new Error("Enter the organization id above.");
  const content = { type: "ACTIVITY_TYPE_" + kind.toUpperCase(), timestampMs: String(Date.now()), organizationId, parameters };
  const answer = await sent(await signed("submit/" + kind, content, rpId));
  const { of, halted, missing, warning } = answer.activity.result.haltResult;
  if (!halted) return say("Signing is resumed for " + of + ".");
  say("Signing is halted for " + of + (missing > 0 ? ": " + missing + " more must ask to resume it." : warning ? ": " + warning + "." : "."));
}

// quoted returns a word of a shell command, in which nothing is expanded.
const quoted = (word) => "'" + word.replaceAll("'", "'\\''") + "'";

async function register() {
  const name = find("name").value.trim();
  const made = await newPasskey(name, rpId);
  find("configuration").textContent = [
    "countersign passkey add --votes \\",
    `  --config countersign.yaml --name ${quoted(name)} --rp-id ${rpId} --origin ${origin} \\`,
    `  --credential-id ${made.id} \\`,
    `  --public-key ${made.publicKey}`,
  ].join("\n");
  find("credential").hidden = false;
  find("configuration").focus();
  say("The passkey was created. It works once the operator has registered it.");
}

async function copy() {
  await navigator.clipboard.writeText(find("configuration").textContent);
  say("The command was copied.");
}

find("copy").addEventListener("click", (event) => attempt(event.target, copy));
find("open").addEventListener("submit", (event) => { event.preventDefault(); attempt(event.submitter, open); });
find("halt").addEventListener("submit", (event) => { event.preventDefault(); attempt(event.submitter, () => stop(event.submitter.value)); });
find("create").addEventListener("submit", (event) => { event.preventDefault(); attempt(event.submitter, register); });
find("refresh").addEventListener("click", (event) => attempt(event.target, refresh));
find("organization").value = new URLSearchParams(location.hash.slice(1)).get("organization") || "";
find("who").textContent = location.origin === origin ? "" : "This page was opened at " + location.origin + ", but its passkeys are for " + origin + ".";
document.body.dataset.ready = "true";
