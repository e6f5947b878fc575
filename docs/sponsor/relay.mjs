// The relay of docs/sponsor.md: it adds the fee payer's signature to what users sign.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyClient } from "@turnkey/http";
import { SignatureEnvelope, TxEnvelopeTempo } from "ox/tempo";

const node = "https://rpc.tempo.xyz", feeToken = "0x20C0000000000000000000000000000000000000";
const { privateKeyId } = JSON.parse(readFileSync("sponsor/key.json"));
const { organizationId, publicKey, privateKey } = JSON.parse(readFileSync("sponsor/api-key.json"));
const stamper = new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey });
const countersign = new TurnkeyClient({ baseUrl: "http://127.0.0.1:8080" }, stamper);

// sponsor adds the fee payer's signature to what a sender has signed.
async function sponsor([serialized]) {
  const { from, signature, ...tx } = TxEnvelopeTempo.deserialize(serialized);
  const payload = TxEnvelopeTempo.getSignPayload(TxEnvelopeTempo.from({ ...tx, feePayerSignature: null }));
  const sender = from ?? SignatureEnvelope.extractAddress({ payload, signature, root: true });
  const unsignedTransaction = TxEnvelopeTempo.serialize({ ...tx, feeToken }, { format: "feePayer", sender, signature });
  const { activity } = await countersign.signTransaction({
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", timestampMs: String(Date.now()), organizationId,
    parameters: { signWith: privateKeyId, unsignedTransaction, type: "TRANSACTION_TYPE_TEMPO" },
  });
  return `0x${activity.result.signTransactionResult.signedTransaction}`;
}

async function send(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { result, error } = await (await fetch(node, { method: "POST", headers: { "content-type": "application/json" }, body })).json();
  if (error) throw new Error(error.message);
  return result;
}

const methods = {
  eth_signRawTransaction: sponsor,
  eth_sendRawTransaction: async (params) => send("eth_sendRawTransaction", [await sponsor(params)]),
  eth_sendRawTransactionSync: async (params) => send("eth_sendRawTransactionSync", [await sponsor(params)]),
};

async function answer(text) {
  let id = null;
  try {
    const call = JSON.parse(text);
    id = call.id;
    if (!Object.hasOwn(methods, call.method)) return { jsonrpc: "2.0", id, error: { code: -32601, message: "the relay only sponsors" } };
    return { jsonrpc: "2.0", id, result: await methods[call.method](call.params) };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: { code: -32003, message: error.message } }; // not sponsored, or malformed
  }
}

async function serve(request, response) {
  let text = "";
  for await (const part of request) {
    text += part;
    if (text.length > 1e6) throw new Error("the request is too long");
  }
  response.setHeader("content-type", "application/json").end(JSON.stringify(await answer(text)));
}

createServer((request, response) => serve(request, response).catch(() => response.destroy())).listen(8090, "127.0.0.1");
