// Takes the events of Countersign and posts each to a chat that has incoming webhooks.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const { SECRET, CHAT, PORT = "8090" } = process.env;
const webhook = new Webhook(SECRET);

const server = createServer(async (request, response) => {
  try {
    const { type, data } = webhook.verify(await text(request), request.headers);
    const what = data.sentences?.join("; ") ?? data.activityType ?? data.reason ?? "";
    const votes = data.missingVotes ? `, ${data.missingVotes} votes missing` : "";
    const message = `${type} by ${data.userName ?? data.userId ?? "the server"}${votes}: ${what}`;
    const posted = await fetch(CHAT, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text: message }) });
    response.statusCode = posted.ok ? 204 : 502; // an event that was not taken comes again
  } catch {
    response.statusCode = 400;
  }
  response.end();
});
server.listen(PORT, "127.0.0.1", () => console.log(server.address().port));
