// Serialises and signs Tempo transactions with ox/tempo and with viem/tempo.
//
// Reads JSON lines {privateKey, tx} and answers, line by line,
// {unsigned, signed, viem}: what ox serialises unsigned and signed, and what viem
// signs. The tx has the names of ox's TxEnvelopeTempo; amounts are decimal
// strings, signatures are hex. A line {unsigned} instead is decoded by ox and
// encoded again: the answer is {again}.
import { createInterface } from "node:readline";
import { Secp256k1, Signature } from "ox";
import { SignatureEnvelope, TxEnvelopeTempo } from "ox/tempo";
import { numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Transaction } from "viem/tempo";

// The names of amounts, which JSON has as decimal strings.
const amounts = ["gas", "maxFeePerGas", "maxPriorityFeePerGas", "nonce", "nonceKey"];

function envelopeOf(tx) {
  const out = { ...tx, type: "tempo" };
  for (const name of amounts) out[name] = BigInt(tx[name]);
  out.calls = tx.calls.map((call) => ({ ...call, value: BigInt(call.value) }));
  if (tx.feePayerSignature) out.feePayerSignature = Signature.fromHex(tx.feePayerSignature);
  if (tx.authorizationList) {
    out.authorizationList = tx.authorizationList.map((authorization) => ({
      ...authorization,
      nonce: BigInt(authorization.nonce),
      signature: SignatureEnvelope.deserialize(authorization.signature),
    }));
  }
  if (tx.keyAuthorization) out.keyAuthorization = keyAuthorizationOf(tx.keyAuthorization);
  return out;
}

function keyAuthorizationOf(key) {
  return {
    ...key,
    chainId: BigInt(key.chainId),
    ...(key.limits && { limits: key.limits.map((limit) => ({ ...limit, limit: BigInt(limit.limit) })) }),
    signature: SignatureEnvelope.deserialize(key.signature),
  };
}

function withOx(privateKey, envelope) {
  const payload = TxEnvelopeTempo.getSignPayload(envelope);
  const signature = SignatureEnvelope.from(Secp256k1.sign({ payload, privateKey }));
  return {
    unsigned: TxEnvelopeTempo.serialize(envelope),
    signed: TxEnvelopeTempo.serialize(envelope, { signature }),
  };
}

function withViem(privateKey, { feePayerSignature, nonce, ...envelope }) {
  const transaction = { ...envelope, nonce: Number(nonce) };
  if (feePayerSignature) {
    const { r, s, yParity } = feePayerSignature;
    transaction.feePayerSignature = { r: numberToHex(r, { size: 32 }), s: numberToHex(s, { size: 32 }), yParity };
  } else if (feePayerSignature === null) {
    transaction.feePayerSignature = null;
  }
  return privateKeyToAccount(privateKey).signTransaction(transaction, { serializer: Transaction.serialize });
}

async function answerTo({ privateKey, tx, unsigned }) {
  if (unsigned) return { again: TxEnvelopeTempo.serialize(TxEnvelopeTempo.deserialize(unsigned)) };
  const envelope = envelopeOf(tx);
  return { ...withOx(privateKey, envelope), viem: await withViem(privateKey, envelope) };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answerTo(JSON.parse(line))) + "\n");
}
