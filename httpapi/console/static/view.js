// How activities are shown. Texts from transactions are set as text, never as markup, in
// elements that isolate their direction; invisible characters are spelled out.

// All spaces but the plain one count as invisible, and so does the empty Braille pattern.
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

export const plain = (text) => String(text).replace(unseen, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");

export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const text = (value, more = "") => element("span", { class: ("text " + more).trim() }, plain(value));

export const groupsOfFour = (digest) => (digest.match(/.{1,4}/g) || []).join(" ");

function amount(field) {
  if (!field.decimals || !/^-?\d+$/.test(field.value)) return field.value;
  const digits = field.value.replace("-", "").padStart(field.decimals + 1, "0");
  const fraction = digits.slice(-field.decimals).replace(/0+$/, "");
  return (field.value.startsWith("-") ? "-" : "") + digits.slice(0, -field.decimals) + (fraction && "." + fraction);
}

function valueOf(field) {
  if (field.type === "list") return details(field.fields || []);
  const parts = [field.type === "amount" ? amount(field) : field.value ?? ""];
  if (field.symbol) parts.push(field.symbol);
  if (field.length) parts.push(`… (${field.length} bytes, SHA-256 ${field.sha256})`);
  if (field.note) parts.push(`(${field.note})`);
  return text(parts.join(" "));
}

// details shows the fields of a summary as a list of terms.
function details(fields) {
  return element("dl", {}, fields.flatMap((field) => [element("dt", {}, text(field.label)), element("dd", {}, valueOf(field))]));
}

// readings shows what descriptors say about the calls, and why they are trusted.
function readings(review) {
  return JSON.parse(review.readings || "[]").map((reading) => element("details", {},
    element("summary", {}, "Read as ", text(reading.intent || reading.function || reading.source), " (", text(reading.trust || "not vouched for"), ")"),
    details([
      { label: "function", type: "text", value: reading.function || "" },
      { label: "program, as it calls itself", type: "text", value: reading.owner || "" },
      ...(reading.fields || []),
      ...(reading.args || []).map((arg) => ({ label: arg.name, type: "text", value: arg.value })),
    ])));
}

function hazards(review) {
  const found = review.hazards || [];
  if (found.length === 0) return element("p", { class: "quiet" }, "No hazards.");
  return element("div", {}, element("h4", {}, "Hazards"),
    element("ul", {}, found.map((hazard) => element("li", { class: "danger" }, text(hazard.name + ": " + hazard.detail)))));
}

function group(one) {
  const approvals = (count) => count + (count === 1 ? " approval" : " approvals");
  const parts = [one.missing === 0 ? "has its " + approvals(one.count) : approvals(one.missing) + " of " + one.count + " missing"];
  if (one.tag) parts.push("by users tagged " + one.tag);
  if (one.users && one.users.length > 0) parts.push("by " + one.users.join(", "));
  if (one.notSubmitter) parts.push("other than the submitter");
  if (one.passkey) parts.push("with a passkey");
  return element("li", {}, text("rule " + one.rule + ": " + parts.join(" ")));
}

// utc shows a time of RFC 3339 to the second; other text stays as it is.
const utc = (time) => String(time).replace(/T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, " $1 UTC");

const moment = (at) => utc(new Date(Number(at.seconds) * 1000).toISOString());

const verbs = { VOTE_SELECTION_APPROVED: "approved", VOTE_SELECTION_REJECTED: "rejected" };

function votes(activity) {
  return element("ul", {}, activity.votes.map((vote, i) => element("li", {},
    text(vote.user.userName), i === 0 ? " submitted it, " : plain(` ${verbs[vote.selection] || vote.selection}, `), moment(vote.createdAt))));
}

const states = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED: "waiting for approvals", ACTIVITY_STATUS_COMPLETED: "completed",
  ACTIVITY_STATUS_REJECTED: "rejected", ACTIVITY_STATUS_FAILED: "failed",
};

// asked says who asks, and since when.
function asked(activity) {
  const first = activity.votes[0];
  return first ? element("p", {}, text(first.user.userName), " asked at ", moment(first.createdAt)) : null;
}

// stateOf returns what became of an activity, in the words of the log and of the command.
const stateOf = (activity) => plain(activity.did ? "signed" : states[activity.status] || activity.status);

const sentences = (list, label) =>
  element("ul", { class: "sentences", "aria-label": label }, list.map((one) => element("li", {}, text(one, one.startsWith("!") ? "danger" : ""))));

// signed shows what was signed, once it is.
function signed(did) {
  return [
    sentences([...did.effects.map((effect) => effect.sentence), ...(did.more ? ["and " + did.more + " more"] : [])], "What was signed"),
    details([
      { label: "key", type: "text", value: did.addresses.join(", ") },
      ...(did.rules ? [{ label: "rules", type: "text", value: did.rules.join(", ") }] : []),
    ]),
  ];
}

// opaque reports whether the sentences leave out what is signed: the text of a message, or
// the arguments of a call.
const opaque = (review) => JSON.parse(review.effects).some((effect) => effect.kind === "message" || !effect.decoded);

function reviewed(activity) {
  const review = activity.review;
  if (!review) return activity.did ? signed(activity.did) : [];
  const summary = JSON.parse(review.summary);
  return [
    ...(review.limits || []).map((taken) => element("p", {}, text("takes " + taken))),
    sentences(review.sentences, "What it does"),
    element("h4", {}, "Approvals"),
    element("ul", {}, (review.missing || []).map(group)),
    review.reason ? element("p", { class: "danger" }, text(review.reason)) : null,
    hazards(review),
    readings(review),
    element("details", opaque(review) ? { open: "" } : {}, element("summary", {}, "Details"), details(summary.fields || []),
      details([
        { label: "keys that sign", type: "text", value: review.keyIds.join(", ") },
        { label: "digest of the policy", type: "text", value: review.policyDigest || "" },
        { label: "rejected by the engine after", type: "text", value: utc(review.expiresAt) },
      ])),
  ];
}

const digest = (review) => [element("h4", {}, "Digest of the summary"), element("p", { class: "digest" }, groupsOfFour(review.summaryDigest))];

// card shows one activity. If problem is not empty, the activity must not be voted on;
// actions are its buttons.
export function card(activity, problem, actions) {
  const title = "title-" + activity.id;
  return element("article", { "aria-labelledby": title, "data-id": activity.id, "data-status": activity.status },
    element("h3", { id: title }, text(activity.type.replace("ACTIVITY_TYPE_", "").replace(/_V\d+$/, "").replaceAll("_", " ").toLowerCase()),
      ", ", stateOf(activity)),
    asked(activity),
    problem ? element("p", { class: "danger", role: "alert" }, text(problem)) : reviewed(activity),
    element("h4", {}, "Votes"), votes(activity),
    problem || !activity.review ? null : digest(activity.review),
    activity.failure ? element("p", { class: "danger" }, text(activity.failure.message || "")) : null,
    element("p", { class: "quiet" }, "activity ", text(activity.id), ", ", text(activity.fingerprint)),
    actions.length > 0 ? element("div", { class: "votes" }, actions) : null);
}
