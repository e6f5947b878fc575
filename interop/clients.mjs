// Runs the public clients of the hosted service, unmodified, against our server.
//
// Reads JSON lines {op, client, baseUrl, organizationId, apiPublicKey,
// apiPrivateKey, …} and answers each with {value} or {error, code}.
import { createHash, createPrivateKey, createPublicKey, sign as nodeSign, verify as nodeVerify } from "node:crypto";
import { PublicKey, Transaction as SolanaTransaction, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyClient as CoreClient } from "@turnkey/core";
import { verifyAppProofSignature } from "@turnkey/crypto";
import { TurnkeySigner as EthersSigner } from "@turnkey/ethers";
import { TurnkeyClient, createActivityPoller, getSignedTransactionFromActivity } from "@turnkey/http";
import { Turnkey } from "@turnkey/sdk-server";
import { TurnkeySigner as SolanaSigner } from "@turnkey/solana";
import { createAccount } from "@turnkey/viem";
import { WalletStamper, WalletType } from "@turnkey/wallet-stamper";
import { WebauthnStamper } from "@turnkey/webauthn-stamper";
import { JsonRpcProvider, Wallet } from "ethers";
import { privateKeyToAccount } from "viem/accounts";
import { Transaction as TempoTransaction } from "viem/tempo";
import { serve } from "./lines.mjs";

// The transaction of the vector eip1559.json.
const viemTransaction = {
  type: "eip1559", chainId: 1, nonce: 7, gas: 60000n, to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7",
  value: 123n, data: "0x", maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n,
};
const { gas, type, ...rest } = viemTransaction;
const ethersTransaction = { ...rest, gasLimit: gas, type: 2 };

// stamperOf returns the stamper that a request names, by default one for an API key.
function stamperOf(line) {
  switch (line.stamper) {
    case "ethereum-wallet": {
      const account = privateKeyToAccount(`0x${line.walletKey}`);
      return new WalletStamper({ type: WalletType.Ethereum, signMessage: (message) => account.signMessage({ message }) });
    }
    case "solana-wallet": {
      const key = createPrivateKey({ key: Buffer.from(line.pkcs8, "base64"), format: "der", type: "pkcs8" });
      const raw = createPublicKey(key).export({ format: "jwk" }).x;
      return new WalletStamper({
        type: WalletType.Solana,
        getPublicKey: async () => Buffer.from(raw, "base64url").toString("hex"),
        signMessage: async (message) => nodeSign(null, Buffer.from(message), key).toString("hex"),
      });
    }
    case "passkey":
      useAuthenticator(line);
      return new WebauthnStamper({ rpId: line.rpId });
  }
  return new ApiKeyStamper({ apiPublicKey: line.apiPublicKey, apiPrivateKey: line.apiPrivateKey });
}

// useAuthenticator emulates the authenticator of a browser.
function useAuthenticator({ rpId, origin, credentialId, pkcs8 }) {
  const key = createPrivateKey({ key: Buffer.from(pkcs8, "base64"), format: "der", type: "pkcs8" });
  const get = async ({ publicKey }) => {
    const challenge = Buffer.from(publicKey.challenge).toString("base64url");
    const clientDataJSON = Buffer.from(JSON.stringify({ type: "webauthn.get", challenge, origin, crossOrigin: false }));
    const authenticatorData = Buffer.concat([createHash("sha256").update(rpId).digest(), Buffer.from([5, 0, 0, 0, 0])]);
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientDataJSON).digest()]);
    const rawId = Buffer.from(credentialId, "base64url");
    return {
      type: "public-key", id: credentialId, rawId,
      response: { clientDataJSON, authenticatorData, signature: nodeSign("sha256", signed, key), userHandle: null },
      getClientExtensionResults: () => ({}),
    };
  };
  Object.defineProperty(globalThis, "navigator", { value: { credentials: { get } }, configurable: true });
}

function httpClient(line) {
  return new TurnkeyClient({ baseUrl: line.baseUrl }, stamperOf(line));
}

function serverClient(line) {
  return new Turnkey({
    apiBaseUrl: line.baseUrl, apiPublicKey: line.apiPublicKey, apiPrivateKey: line.apiPrivateKey,
    defaultOrganizationId: line.organizationId, activityPoller: { intervalMs: 1, numRetries: 2 },
  }).apiClient();
}

function coreClient(line) {
  const config = { apiBaseUrl: line.baseUrl, organizationId: line.organizationId, activityPoller: { intervalMs: 1, numRetries: 2 } };
  return new CoreClient(config, stamperOf(line)).createHttpClient();
}

function parameters(line) {
  return { signWith: line.signWith, unsignedTransaction: line.unsigned, type: "TRANSACTION_TYPE_ETHEREUM" };
}

function httpBody(line) {
  const body = {
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", timestampMs: line.timestampMs ?? String(Date.now()),
    organizationId: line.organizationId, parameters: parameters(line),
  };
  return line.proofs ? { ...body, generateAppProofs: true } : body;
}

// The clients that @turnkey/solana accepts.
const solanaClients = { http: httpClient, "sdk-server": serverClient, core: coreClient };

// signWithSolana has a transaction signed, legacy or v0, and verifies the signature.
async function signWithSolana(line) {
  const from = new PublicKey(line.solanaAddress);
  const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: 5 });
  const signer = new SolanaSigner({ organizationId: line.organizationId, client: solanaClients[line.over](line) });
  if (line.version === "legacy") {
    const tx = new SolanaTransaction({ feePayer: from, recentBlockhash: line.blockhash }).add(transfer);
    const signed = await signer.signTransaction(tx, line.solanaAddress);
    return signed.verifySignatures() ? "verifies" : "does not verify";
  }
  const message = new TransactionMessage({ payerKey: from, recentBlockhash: line.blockhash, instructions: [transfer] }).compileToV0Message();
  const signed = await signer.signTransaction(new VersionedTransaction(message), line.solanaAddress);
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), from.toBuffer()]); // RFC 8410
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  return nodeVerify(null, message.serialize(), key, signed.signatures[0]) ? "verifies" : "does not verify";
}

// transferOfOne is transfer(0x08d2…67b7, 1) of TIP-20.
const transferOfOne = "0xa9059cbb" + "08d2b0a37f869ff76bacb5bab3278e26ab7067b7".padStart(64, "0") + "1".padStart(64, "0");

// signTempo has a Tempo transaction signed, whose type @turnkey/viem detects, and compares
// the result with viem's own signature by the same key.
async function signTempo(line) {
  const tx = {
    type: "tempo", chainId: 42431, nonce: 3, gas: 100000n, maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n,
    feeToken: "0x20c0000000000000000000000000000000000001",
    calls: [{ to: "0x20c0000000000000000000000000000000000001", data: transferOfOne }, { to: line.signWith }],
  };
  const options = { serializer: TempoTransaction.serialize };
  const account = await createAccount({ client: httpClient(line), organizationId: line.organizationId, signWith: line.signWith, ethereumAddress: line.signWith });
  const here = await privateKeyToAccount(line.secret).signTransaction(tx, options);
  return (await account.signTransaction(tx, options)) === here ? "equal" : "different";
}

const noProvider = new JsonRpcProvider("http://127.0.0.1:1", 1, { staticNetwork: true });

// sign has a client sign the transaction and returns the signed bytes.
const sign = {
  http: async (line) => (await httpClient(line).signTransaction(httpBody(line))).activity.result.signTransactionResult.signedTransaction,
  poller: async (line) => {
    const client = httpClient(line);
    const poll = createActivityPoller({ client, requestFn: client.signTransaction });
    return (await poll(httpBody(line))).result.signTransactionResult.signedTransaction;
  },
  "sdk-server": async (line) => (await serverClient(line).signTransaction(parameters(line))).signedTransaction,
  core: async (line) => (await coreClient(line).signTransaction(parameters(line))).signedTransaction,
  viem: async (line) => {
    const account = await createAccount({ client: httpClient(line), organizationId: line.organizationId, signWith: line.signWith, ethereumAddress: line.signWith });
    return account.signTransaction(viemTransaction);
  },
  "viem over sdk-server": async (line) => {
    const account = await createAccount({ client: serverClient(line), organizationId: line.organizationId, signWith: line.signWith, ethereumAddress: line.signWith });
    return account.signTransaction(viemTransaction);
  },
  ethers: async (line) => {
    const signer = new EthersSigner({ client: httpClient(line), organizationId: line.organizationId, signWith: line.signWith }, noProvider);
    return signer.signTransaction(ethersTransaction);
  },
  solana: signWithSolana,
  tempo: signTempo,
};

// submitted has a client submit the transaction and returns the whole answer.
const submitted = {
  http: (line) => httpClient(line).signTransaction(httpBody(line)),
  "sdk-server": (line) => serverClient(line).signTransaction(parameters(line)),
  core: (line) => coreClient(line).signTransaction(parameters(line)),
};

const whoami = {
  http: (line) => httpClient(line).getWhoami({ organizationId: line.organizationId }),
  "sdk-server": (line) => serverClient(line).getWhoami(),
  core: (line) => coreClient(line).getWhoami(),
};

const getActivity = {
  http: (line) => httpClient(line).getActivity({ organizationId: line.organizationId, activityId: line.activityId }),
  "sdk-server": (line) => serverClient(line).getActivity({ activityId: line.activityId }),
  core: (line) => coreClient(line).getActivity({ activityId: line.activityId }),
};

const initOtpAuth = {
  http: (line) => httpClient(line).initOtpAuth(otpBody(line, "ACTIVITY_TYPE_INIT_OTP_AUTH_V3")),
  "sdk-server": (line) => serverClient(line).initOtpAuth({ ...line.otp, timestampMs: line.timestampMs }),
  core: (line) => coreClient(line).initOtpAuth({ ...line.otp, timestampMs: line.timestampMs }),
};

// verifyOtp: sdk-server's own method posts VERIFY_OTP_V2, its generic request anything.
const verifyOtp = {
  http: (line) => httpClient(line).verifyOtp(otpBody(line, "ACTIVITY_TYPE_VERIFY_OTP")),
  "sdk-server": (line) => serverClient(line).verifyOtp({ ...line.otp, timestampMs: line.timestampMs }),
  "sdk-server request": (line) => serverClient(line).request("/public/v1/submit/verify_otp", line.body),
  core: (line) => coreClient(line).verifyOtp({ ...line.otp, timestampMs: line.timestampMs }),
};

function otpBody(line, type) {
  return { type, timestampMs: line.timestampMs ?? String(Date.now()), organizationId: line.organizationId, parameters: line.otp };
}

// A permit, as applications request it.
const permit = {
  domain: { name: "USD Coin", version: "2", chainId: 1, verifyingContract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" },
  types: { Permit: ["owner:address", "spender:address", "value:uint256", "nonce:uint256", "deadline:uint256"].map((m) => ({ name: m.split(":")[0], type: m.split(":")[1] })) },
};
const permitOf = (line) => ({ owner: line.signWith, spender: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", value: 250000000n, nonce: 0n, deadline: 1763643600n });

const viemAccount = (line) => createAccount({ client: httpClient(line), organizationId: line.organizationId, signWith: line.signWith, ethereumAddress: line.signWith });
const ethersSigner = (line) => new EthersSigner({ client: httpClient(line), organizationId: line.organizationId, signWith: line.signWith }, noProvider);

// messages has functions that have a client sign a message, and compare the result with the
// library's own signature by the same key.
const messages = {
  "viem typed data": async (line) => {
    const EIP712Domain = ["name:string", "version:string", "chainId:uint256", "verifyingContract:address"].map((m) => ({ name: m.split(":")[0], type: m.split(":")[1] }));
    const types = line.withoutDomain ? permit.types : { EIP712Domain, ...permit.types };
    const typed = { domain: permit.domain, types, primaryType: "Permit", message: permitOf(line) };
    return same(await (await viemAccount(line)).signTypedData(typed), await privateKeyToAccount(line.secret).signTypedData(typed));
  },
  "ethers typed data": async (line) => same(
    await ethersSigner(line).signTypedData(permit.domain, permit.types, permitOf(line)),
    await new Wallet(line.secret).signTypedData(permit.domain, permit.types, permitOf(line))),
  "viem authorization": async (line) => {
    const authorization = { address: "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B", chainId: 1, nonce: 7 };
    const theirs = await (await viemAccount(line)).signAuthorization(authorization);
    const ours = await privateKeyToAccount(line.secret).signAuthorization(authorization);
    return same([theirs.r, theirs.s, theirs.yParity].join(), [ours.r, ours.s, ours.yParity].join());
  },
  "viem preimage": async (line) => {
    const text = "Log in to the interop tests";
    const preimage = Buffer.from(`\x19Ethereum Signed Message:\n${Buffer.byteLength(text)}${text}`).toString("hex");
    const { activity } = await httpClient(line).signRawPayload({
      type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", timestampMs: String(Date.now()), organizationId: line.organizationId,
      parameters: { signWith: line.signWith, payload: preimage, encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_KECCAK256" },
    });
    const { r, s, v } = activity.result.signRawPayloadResult;
    return same(`0x${r}${s}${v === "00" ? "1b" : "1c"}`, await privateKeyToAccount(line.secret).signMessage({ message: text }));
  },
  "viem message": async (line) => (await viemAccount(line)).signMessage({ message: "hello" }),
  "ethers message": async (line) => ethersSigner(line).signMessage("hello"),
  "solana transactions": async (line) => {
    const { from, signer, tx, versioned } = solanaTransactions(line);
    await signer.addSignature(tx, line.solanaAddress);
    const [first, second] = await signer.signAllTransactions([solanaTransactions(line).tx, versioned], line.solanaAddress);
    const all = tx.verifySignatures() && first.verifySignatures() && verifiesSolana(from, versioned.message.serialize(), second.signatures[0]);
    return all ? "equal" : "does not verify";
  },
  "solana message": async (line) => {
    const { from, signer } = solanaTransactions(line);
    const message = Buffer.from(line.text, "hex");
    return verifiesSolana(from, message, await signer.signMessage(message, line.solanaAddress)) ? "equal" : "does not verify";
  },
};

const same = (a, b) => (a === b ? "equal" : `${a}, and by the key itself ${b}`);

function solanaTransactions(line) {
  const from = new PublicKey(line.solanaAddress);
  const instructions = [SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: 5 })];
  if (line.assign) instructions.push(SystemProgram.assign({ accountPubkey: from, programId: new PublicKey(line.blockhash) }));
  const signer = new SolanaSigner({ organizationId: line.organizationId, client: httpClient(line) });
  const tx = new SolanaTransaction({ feePayer: from, recentBlockhash: line.blockhash }).add(...instructions);
  const versioned = new VersionedTransaction(new TransactionMessage({ payerKey: from, recentBlockhash: line.blockhash, instructions }).compileToV0Message());
  return { from, signer, tx, versioned };
}

function verifiesSolana(from, message, signature) {
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), from.toBuffer()]); // RFC 8410
  return nodeVerify(null, message, createPublicKey({ key: der, format: "der", type: "spki" }), signature);
}

// clientOf returns a client for queries and votes.
const clientOf = (line) => solanaClients[line.client](line);

// vote has a client vote. http expects the whole body, the others only the parameters.
async function vote(line, method, type) {
  const parameters = { fingerprint: line.fingerprint };
  const whole = { type, timestampMs: String(Date.now()), organizationId: line.organizationId, parameters };
  return (await clientOf(line)[method](line.client === "http" ? whole : parameters)).activity;
}

// signedSolana has the library's helper extract the signed transaction from an activity,
// and verifies its signature.
async function signedSolana(line) {
  const { activity } = await getActivity[line.client](line);
  const signed = VersionedTransaction.deserialize(Buffer.from(getSignedTransactionFromActivity(activity).slice(2), "hex"));
  const from = new PublicKey(line.solanaAddress);
  return verifiesSolana(from, signed.message.serialize(), signed.signatures[0]) ? "verifies" : "does not verify";
}

const operations = {
  signedSolana,
  submitted: (line) => submitted[line.client](line),
  approve: (line) => vote(line, "approveActivity", "ACTIVITY_TYPE_APPROVE_ACTIVITY"),
  reject: (line) => vote(line, "rejectActivity", "ACTIVITY_TYPE_REJECT_ACTIVITY"),
  activities: async (line) => (await clientOf(line).getActivities({ organizationId: line.organizationId, filterByStatus: line.statuses })).activities,
  policies: async (line) => (await clientOf(line).getPolicies({ organizationId: line.organizationId })).policies,
  message: (line) => messages[line.client](line),
  sign: (line) => sign[line.client](line),
  activity: async (line) => httpClient(line).signTransaction(httpBody(line)),
  whoami: (line) => whoami[line.client](line),
  getActivity: (line) => getActivity[line.client](line),
  initOtpAuth: (line) => initOtpAuth[line.client](line),
  verifyOtp: (line) => verifyOtp[line.client](line),
  verifyProof: async (line) => { verifyAppProofSignature(line.proof); return "verifies"; },
};

async function answer(line) {
  try {
    return { value: await operations[line.op](line) };
  } catch (error) {
    return {
      error: String(error.message ?? error), cause: error.cause ? String(error.cause.message ?? error.cause) : "", code: error.code ?? null,
      name: String(error.name ?? ""), activityId: error.activityId ?? error.cause?.activityId ?? "", status: error.activityStatus ?? error.cause?.activityStatus ?? "",
    };
  }
}

await serve(answer);
