// Votes on what waits for a vote of its user: against payments to addresses in BLOCKED, else for.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyClient } from "@turnkey/http";
import { Webhook } from "standardwebhooks";

const { SECRET, SERVER, KEY, BLOCKED, PORT = "8091" } = process.env;
const { organizationId, publicKey, privateKey } = JSON.parse(readFileSync(KEY, "utf8"));
const client = new TurnkeyClient({ baseUrl: SERVER }, new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey }));
const webhook = new Webhook(SECRET), blocked = new Set(BLOCKED.toLowerCase().split(","));

// allowed decides about the effects of a signature: put your own question here.
const allowed = (effects) => effects.every(({ to }) => to === undefined || (to !== "unknown" && !blocked.has(to.toLowerCase())));

async function vote(activityId) {
  const { activity } = await client.getActivity({ organizationId, activityId }); // what would be signed, not what the event says
  if (!activity.canApprove) return;
  const { shown, effects } = activity.review, parameters = { fingerprint: activity.fingerprint, shown };
  const body = { timestampMs: String(Date.now()), organizationId, parameters };
  if (allowed(JSON.parse(effects))) await client.approveActivity({ type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", ...body });
  else await client.rejectActivity({ type: "ACTIVITY_TYPE_REJECT_ACTIVITY", ...body });
}

createServer(async (request, response) => {
  const event = await text(request).then((body) => webhook.verify(body, request.headers)).catch(() => null);
  const voted = event?.type !== "activity.waiting" || (await vote(event.data.activityId).then(() => true, () => false));
  response.writeHead(event === null ? 400 : voted ? 204 : 502).end(); // an event that was not taken comes again
}).listen(PORT, "127.0.0.1", function () { console.log(this.address().port); });
