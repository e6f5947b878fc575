// Sends sponsored transactions with viem/tempo, as applications do, through a relay.
//
// Arguments: the URLs of a node and of a relay. Reads JSON lines and answers each with
// {hash}, {accepted, refused}, {sender, payer, …} or {error}:
//
//	{transport, policy?, action, args}  sends one; transport is withRelay or withFeePayer
//	{many, args}                        sends that many concurrently, and counts the accepted ones
//	{read}                              reads a signed transaction with ox
import { Secp256k1 } from "ox";
import { SignatureEnvelope, TxEnvelopeTempo } from "ox/tempo";
import { http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Actions, createClient, withFeePayer, withRelay } from "viem/tempo";
import { serve } from "./lines.mjs";

const [node, relay] = process.argv.slice(2);
const account = privateKeyToAccount(`0x${"46".repeat(32)}`);
const transports = { withRelay, withFeePayer };

function clientOf({ transport = "withRelay", policy }) {
  const patient = { retryCount: 0, timeout: 600_000 };
  return createClient({ account, transport: transports[transport](http(node, patient), http(relay, patient), { policy }) });
}

// amounts are the members that are decimal strings in JSON.
function argumentsOf(args) {
  const out = { ...args, feePayer: true };
  for (const name of ["amount", "gas", "maxFeePerGas", "maxPriorityFeePerGas"]) if (name in out) out[name] = BigInt(out[name]);
  return out;
}

async function send(line) {
  const [group, action] = line.action.split(".");
  return { hash: await Actions[group][action](clientOf(line), argumentsOf(line.args)) };
}

// many sends transactions that one client prepared, each with its own nonce key.
async function many({ many, args }) {
  const client = clientOf({});
  const { amount, token, to, ...rest } = argumentsOf(args);
  const calls = [Actions.token.transfer.call(client, { token, to, amount })];
  let next = 0, accepted = 0;
  const refused = [];
  const work = async () => {
    while (next < many) {
      try {
        await client.sendTransaction({ ...rest, calls, nonce: 0, nonceKey: BigInt(1000 + next++) });
        accepted++;
      } catch (error) {
        refused.push(error.details ?? error.message);
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return { accepted, refused };
}

function read(serialized) {
  const { signature, feePayerSignature, ...tx } = TxEnvelopeTempo.deserialize(serialized);
  const forSender = TxEnvelopeTempo.from({ ...tx, feePayerSignature: null });
  const sender = SignatureEnvelope.extractAddress({ payload: TxEnvelopeTempo.getSignPayload(forSender), signature });
  const payload = TxEnvelopeTempo.getFeePayerSignPayload(TxEnvelopeTempo.from(tx), { sender });
  return { sender, payer: Secp256k1.recoverAddress({ payload, signature: feePayerSignature }), feeToken: tx.feeToken, gas: String(tx.gas) };
}

async function answer(line) {
  if (line.read) return read(line.read);
  return line.many ? many(line) : send(line);
}

await serve((line) => answer(line).catch((error) => ({ error: error.details ?? error.stack })));
