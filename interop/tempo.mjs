// Serializes and signs Tempo transactions with ox/tempo and with viem/tempo.
//
// Reads JSON lines and answers each. The members of tx are those of ox's TxEnvelopeTempo;
// amounts are decimal strings, signatures are hex.
//
//   {privateKey, tx}                 → {unsigned, signed, viem}: by ox, and as viem signs it
//   {privateKey, tx, payer, root}    → also {toPayer, forPayer, countersigned}: the transaction
//                                      with a placeholder for the fee payer's signature, what
//                                      the fee payer signs, and the transaction with both
//                                      signatures; and {accessKey, accessKeyViem}: the
//                                      signature of an access key for the account root
//   {senders, payer, …}              → {forms, types}: {name, toPayer, forPayer, countersigned}
//                                      for each form of a sender's signature that ox builds,
//                                      and the key types that ox knows
//   {unsigned}                       → {again}: decoded by ox and encoded again
import { Address, Hex, P256, Secp256k1, Signature } from "ox";
import { AccountConfig, SignatureEnvelope, TxEnvelopeTempo } from "ox/tempo";
import { numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Account, Transaction } from "viem/tempo";
import { serve } from "./lines.mjs";

// The members that are amounts: decimal strings in JSON.
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

// forPayer returns what a fee payer receives and what it returns.
function forPayer(privateKey, payer, envelope) {
  const sponsored = { ...envelope, feePayerSignature: null };
  const signature = SignatureEnvelope.from(Secp256k1.sign({ payload: TxEnvelopeTempo.getSignPayload(sponsored), privateKey }));
  const sender = Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey }));
  const payload = TxEnvelopeTempo.getFeePayerSignPayload(sponsored, { sender });
  const feePayerSignature = Secp256k1.sign({ payload, privateKey: payer });
  return {
    toPayer: TxEnvelopeTempo.serialize(sponsored, { signature }),
    forPayer: TxEnvelopeTempo.serialize(sponsored, { signature, sender, format: "feePayer" }),
    countersigned: TxEnvelopeTempo.serialize({ ...envelope, feePayerSignature }, { signature }),
  };
}

async function asAccessKey(privateKey, root, envelope) {
  const inner = SignatureEnvelope.from(Secp256k1.sign({ payload: TxEnvelopeTempo.getSignPayload(envelope, { from: root }), privateKey }));
  const signature = SignatureEnvelope.from({ type: "keychain", version: "v2", userAddress: root, inner });
  const account = Account.fromSecp256k1(privateKey, { access: root });
  const byViem = await account.sign({ hash: TxEnvelopeTempo.getSignPayload(envelope) });
  return {
    accessKey: TxEnvelopeTempo.serialize(envelope, { signature }),
    accessKeyViem: TxEnvelopeTempo.serialize(envelope, { signature: SignatureEnvelope.deserialize(byViem) }),
  };
}

// primitives are the types of signatures of a key, each as a function of the payload.
function primitives(privateKey) {
  const publicKey = P256.getPublicKey({ privateKey });
  const p256 = (payload, prehash) => {
    const { r, s } = P256.sign({ payload, privateKey, hash: prehash });
    return SignatureEnvelope.from({ type: "p256", prehash, publicKey, signature: { r, s } });
  };
  return {
    secp256k1: (payload) => SignatureEnvelope.from(Secp256k1.sign({ payload, privateKey })),
    p256: (payload) => p256(payload, false),
    "p256 over a hash": (payload) => p256(payload, true),
    webAuthn: (challenge) => {
      const clientDataJSON = JSON.stringify({ type: "webauthn.get", challenge: Buffer.from(Hex.toBytes(challenge)).toString("base64url"), origin: "https://example.com" });
      const { r, s } = P256.sign({ payload: challenge, privateKey }); // payers do not verify it
      const metadata = { authenticatorData: `0x${"11".repeat(32)}0500000000`, clientDataJSON };
      return SignatureEnvelope.from({ type: "webAuthn", metadata, publicKey, signature: { r, s } });
    },
  };
}

// senderForms returns every form of a sender's signature that ox builds: those of keys, and
// each of them wrapped for keychains and configurable accounts.
function senderForms(privateKey, root, sponsored) {
  const signers = primitives(privateKey);
  const plain = TxEnvelopeTempo.getSignPayload(sponsored), bound = TxEnvelopeTempo.getSignPayload(sponsored, { from: root });
  const owner = Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey }));
  const config = AccountConfig.from({ threshold: 1, owners: [{ owner, weight: 1 }] });
  const configurable = { type: "configurable", account: AccountConfig.getAddress(config), config, signatures: [signers.secp256k1(plain)] };
  const forms = { configurable };
  for (const [name, sign] of Object.entries(signers)) {
    forms[name] = sign(plain);
    forms[`keychain v2, ${name}`] = { type: "keychain", version: "v2", userAddress: root, inner: sign(bound) };
    forms[`keychain v1, ${name}`] = { type: "keychain", version: "v1", userAddress: root, inner: sign(plain) };
  }
  forms["keychain v2, configurable"] = { type: "keychain", version: "v2", userAddress: root, inner: configurable };
  return forms;
}

function inEachForm(privateKey, payer, root, envelope) {
  const sponsored = { ...envelope, feePayerSignature: null };
  return Object.entries(senderForms(privateKey, root, sponsored)).map(([name, signature]) => {
    const sender = SignatureEnvelope.extractAddress({ payload: TxEnvelopeTempo.getSignPayload(sponsored), signature, root: true });
    const feePayerSignature = Secp256k1.sign({ payload: TxEnvelopeTempo.getFeePayerSignPayload(sponsored, { sender }), privateKey: payer });
    return {
      name,
      toPayer: TxEnvelopeTempo.serialize(sponsored, { signature }),
      forPayer: TxEnvelopeTempo.serialize(sponsored, { signature, sender, format: "feePayer" }),
      countersigned: TxEnvelopeTempo.serialize({ ...envelope, feePayerSignature }, { signature }),
    };
  });
}

async function answerTo({ privateKey, tx, unsigned, payer, root, senders }) {
  if (senders) return { forms: inEachForm(privateKey, payer, root, envelopeOf(tx)), types: SignatureEnvelope.types };
  if (unsigned) return { again: TxEnvelopeTempo.serialize(TxEnvelopeTempo.deserialize(unsigned)) };
  const envelope = envelopeOf(tx);
  const answer = { ...withOx(privateKey, envelope), viem: await withViem(privateKey, envelope) };
  if (!payer) return answer;
  return { ...answer, ...forPayer(privateKey, payer, envelope), ...(await asAccessKey(privateKey, root, envelope)) };
}

await serve(answerTo);
