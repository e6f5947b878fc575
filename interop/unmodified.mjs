// Makes each call of the table in docs/api.md, "What works unmodified", with the public
// clients as they are on the registry.
//
// Reads JSON lines {client, call, url, …} and answers each with {value} or {error}.
import { createPublicKey, verify } from "node:crypto";
import { PublicKey, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { getBase64Encoder, getTransactionDecoder } from "@solana/kit";
import { TurnkeySigner as KeychainSigner } from "@solana/keychain-turnkey";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyClient as CoreClient } from "@turnkey/core";
import { encryptOtpCodeToBundle, verifyAppProofSignature, verifyOtpVerificationToken } from "@turnkey/crypto";
import { TurnkeySigner as EthersSigner } from "@turnkey/ethers";
import { TurnkeyClient } from "@turnkey/http";
import { Turnkey } from "@turnkey/sdk-server";
import { TurnkeySigner as SolanaSigner } from "@turnkey/solana";
import { createAccount } from "@turnkey/viem";
import { JsonRpcProvider, Transaction as EthersTransaction, verifyTypedData } from "ethers";
import { getTypesForEIP712Domain, parseTransaction, recoverTransactionAddress, recoverTypedDataAddress } from "viem";
import { serve } from "./lines.mjs";

const stamperOf = (line) => new ApiKeyStamper({ apiPublicKey: line.apiPublicKey, apiPrivateKey: line.apiPrivateKey });
const httpClient = (line) => new TurnkeyClient({ baseUrl: line.url }, stamperOf(line));
const serverClient = (line) => new Turnkey({
  apiBaseUrl: line.url, apiPublicKey: line.apiPublicKey, apiPrivateKey: line.apiPrivateKey, defaultOrganizationId: line.organizationId,
}).apiClient();
const core = (line) => new CoreClient({ apiBaseUrl: line.url, authProxyUrl: line.url, authProxyConfigId: "none", organizationId: line.organizationId }, stamperOf(line));

const transfer = {
  chainId: 1, nonce: 7, to: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", value: 123n, data: "0x",
  maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n,
};
const members = (list) => list.map((m) => ({ name: m.split(":")[0], type: m.split(":")[1] }));
const domain = { name: "USD Coin", version: "2", chainId: 1, verifyingContract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" };
const types = { Permit: members(["owner:address", "spender:address", "value:uint256", "nonce:uint256", "deadline:uint256"]) };
const permit = (line) => ({ owner: line.address, spender: "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", value: 250000000n, nonce: 0n, deadline: 1763643600n });

function must(condition, what) {
  if (!condition) throw new Error(`not as expected: ${what}`);
  return "works";
}

// The preimage of personal_sign, which sign_raw_payload hashes.
const rawPayload = (line) => ({
  signWith: line.address, payload: Buffer.from("\x19Ethereum Signed Message:\n23Approve Portals sign-in").toString("hex"),
  encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_KECCAK256",
});

// api returns the calls of a client of the whole API. http takes whole bodies of activities,
// the others the parameters alone.
function api(make, whole) {
  const submit = (line, method, type, parameters) => make(line)[method](whole
    ? { type, timestampMs: String(Date.now()), organizationId: line.organizationId, parameters } : { ...parameters, organizationId: line.organizationId });
  const ask = (line, method, more = {}) => make(line)[method]({ organizationId: line.organizationId, ...more });
  return {
    signTransaction: async (line) => {
      const answer = await submit(line, "signTransaction", "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", { signWith: line.address, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: line.unsigned });
      const { signedTransaction } = answer.activity.result.signTransactionResult;
      return must((await recoverTransactionAddress({ serializedTransaction: `0x${signedTransaction}` })) === line.address, signedTransaction);
    },
    signRawPayload: async (line) => {
      const answer = await submit(line, "signRawPayload", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", rawPayload(line));
      return must(answer.activity.result.signRawPayloadResult.r.length === 64, "r");
    },
    initOtp: async (line) => {
      const answer = await submit(line, "initOtp", "ACTIVITY_TYPE_INIT_OTP_V3", { otpType: "OTP_TYPE_EMAIL", contact: line.contact, appName: "Example", alphanumeric: false });
      return answer.activity.result.initOtpResultV2;
    },
    verifyOtp: async (line) => {
      const key = new ApiKeyStamper({ apiPublicKey: line.apiPublicKey, apiPrivateKey: line.apiPrivateKey }).apiPublicKey;
      const encryptedOtpBundle = await encryptOtpCodeToBundle(line.code, line.target, key, line.proofKey);
      const answer = await submit(line, "verifyOtp", "ACTIVITY_TYPE_VERIFY_OTP_V2", { otpId: line.otpId, encryptedOtpBundle });
      const claims = await verifyOtpVerificationToken(answer.activity.result.verifyOtpResult.verificationToken, line.proofKey);
      return must(claims.public_key === key && claims.id === line.otpId && claims.contact === line.contact, JSON.stringify(claims));
    },
    getWhoami: async (line) => must((await ask(line, "getWhoami")).username === "ci", "username"),
    getPrivateKeys: async (line) => must((await ask(line, "getPrivateKeys")).privateKeys[0].privateKeyId === "key-1", "keys"),
    getPrivateKey: async (line) => must((await ask(line, "getPrivateKey", { privateKeyId: "key-1" })).privateKey.addresses.some((a) => a.address === line.address), "address"),
    getWallets: async (line) => must((await ask(line, "getWallets")).wallets[0].walletId === "wallet-1", "wallets"),
    getWallet: async (line) => must((await ask(line, "getWallet", { walletId: "wallet-1" })).wallet.walletName === "hot", "wallet"),
    getWalletAccounts: async (line) => {
      const { accounts } = await ask(line, "getWalletAccounts", { includeWalletDetails: true, paginationOptions: { limit: "100" } });
      return must(accounts[0].address === line.solanaAddress && accounts[0].walletDetails.walletName === "hot", "accounts");
    },
    getWalletAccount: async (line) => must((await ask(line, "getWalletAccount", { walletId: "wallet-1", address: line.solanaAddress })).account.walletAccountId === "key-2", "account"),
    getUsers: async (line) => must((await ask(line, "getUsers")).users[0].userName === "ci", "users"),
    getUser: async (line) => must((await ask(line, "getUser", { userId: "user-1" })).user.apiKeys[0].credential.publicKey === line.apiPublicKey, "user"),
    getOrganization: async (line) => must((await ask(line, "getOrganization")).organizationData.name === "Example", "organization"),
    getActivities: async (line) => must((await ask(line, "getActivities")).activities.length > 0, "activities"),
    getPolicies: async (line) => must(Array.isArray((await ask(line, "getPolicies")).policies), "policies"),
    createWallet: async (line) => submit(line, "createWallet", "ACTIVITY_TYPE_CREATE_WALLET", { walletName: "new", accounts: [] }),
  };
}

// The viem account and the ethers signer, by the key's address or by its id.
const viem = (line, by) => createAccount({ client: httpClient(line), organizationId: line.organizationId, signWith: by, ...(by === line.address ? { ethereumAddress: by } : {}) });
const noProvider = new JsonRpcProvider("http://127.0.0.1:1", 1, { staticNetwork: true });
const ethers = (line, by) => new EthersSigner({ client: httpClient(line), organizationId: line.organizationId, signWith: by }, noProvider);

async function viemTransaction(line, by) {
  const signed = await (await viem(line, by)).signTransaction({ ...transfer, type: "eip1559", gas: 60000n });
  parseTransaction(signed);
  return must((await recoverTransactionAddress({ serializedTransaction: signed })) === line.address, signed);
}

async function ethersTransaction(line, by) {
  const signed = await ethers(line, by).signTransaction({ ...transfer, type: 2, gasLimit: 60000n });
  return must(EthersTransaction.from(signed).from === line.address, signed);
}

async function viemTypedData(line, typed) {
  const signature = await (await viem(line, line.address)).signTypedData(typed);
  return must((await recoverTypedDataAddress({ ...typed, signature })) === line.address, signature);
}

const solanaKey = (line) => createPublicKey({ key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), new PublicKey(line.solanaAddress).toBuffer()]), format: "der", type: "spki" }); // RFC 8410

// solanaTransaction is a transfer to oneself, whose fee another account may pay.
function solanaTransaction(line, feePayer = line.solanaAddress) {
  const own = new PublicKey(line.solanaAddress);
  const instructions = [SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports: 5 })];
  return new VersionedTransaction(new TransactionMessage({ payerKey: new PublicKey(feePayer), recentBlockhash: line.blockhash, instructions }).compileToV0Message());
}

const solana = (line) => new SolanaSigner({ organizationId: line.organizationId, client: httpClient(line) });
const keychain = (line) => new KeychainSigner({
  apiBaseUrl: line.url, apiPublicKey: line.apiPublicKey, apiPrivateKey: line.apiPrivateKey, organizationId: line.organizationId,
  privateKeyId: "key-2", publicKey: line.solanaAddress,
});

async function keychainSigns(line, unsigned) {
  const tx = getTransactionDecoder().decode(getBase64Encoder().encode(Buffer.from(unsigned.serialize()).toString("base64")));
  const [signatures] = await keychain(line).signTransactions([tx]);
  return must(verify(null, unsigned.message.serialize(), solanaKey(line), signatures[line.solanaAddress]), "signature");
}

// told is the error with what a client hides in it.
const told = (error) => [error.message ?? String(error), error.cause?.message, error.context ? JSON.stringify(error.context) : ""].filter(Boolean).join(" ");

const calls = {
  "@turnkey/http": api(httpClient, true),
  "@turnkey/sdk-server": api(serverClient, false),
  "@turnkey/core": {
    ...api((line) => core(line).createHttpClient(), false),
    // This client posts ACTIVITY_TYPE_VERIFY_OTP.
    "verifyOtp, with the code in clear": async (line) => {
      const { verificationToken } = await core(line).createHttpClient().verifyOtp({ otpId: line.otpId, otpCode: line.code, publicKey: line.apiPublicKey });
      return must(verificationToken.split(".").length === 3, verificationToken);
    },
    "TurnkeyClient.initOtp": (line) => core(line).initOtp({ otpType: "OTP_TYPE_EMAIL", contact: line.contact }),
    "TurnkeyClient.verifyOtp": (line) => core(line).verifyOtp({ otpId: line.otpId, otpCode: line.code, otpEncryptionTargetBundle: line.target, publicKey: line.apiPublicKey }),
  },
  "@turnkey/crypto": {
    "encryptOtpCodeToBundle, with the proof key": async (line) => must(JSON.parse(await encryptOtpCodeToBundle(line.code, line.target, line.apiPublicKey, line.proofKey)).encappedPublic.length === 130, "bundle"),
    "encryptOtpCodeToBundle, without it": (line) => encryptOtpCodeToBundle(line.code, line.target, line.apiPublicKey),
    "verifyOtpVerificationToken, with the proof key": async (line) => must((await verifyOtpVerificationToken(line.token, line.proofKey)).id, "id"),
    "verifyOtpVerificationToken, without it": (line) => verifyOtpVerificationToken(line.token),
    verifyAppProofSignature: (line) => { verifyAppProofSignature(line.proof); return "works"; },
  },
  "@turnkey/viem": {
    "signTransaction": (line) => viemTransaction(line, line.address),
    "signTransaction, signWith a key's id": (line) => viemTransaction(line, "key-1"),
    "signTypedData, as viem's documentation has it": (line) => viemTypedData(line, { domain, types, primaryType: "Permit", message: permit(line) }),
    "signTypedData, with the domain's type": (line) => viemTypedData(line, { domain, types: { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types }, primaryType: "Permit", message: permit(line) }),
    "signMessage": async (line) => (await viem(line, line.address)).signMessage({ message: "hello" }),
    "signAuthorization": async (line) => (await viem(line, line.address)).signAuthorization({ address: "0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B", chainId: 1, nonce: 7 }),
  },
  "@turnkey/ethers": {
    "signTransaction": (line) => ethersTransaction(line, line.address),
    "signTransaction, signWith a key's id": (line) => ethersTransaction(line, "key-1"),
    "signTypedData": async (line) => must(verifyTypedData(domain, types, permit(line), await ethers(line, line.address).signTypedData(domain, types, permit(line))) === line.address, "signer"),
    "signMessage": (line) => ethers(line, line.address).signMessage("hello"),
  },
  "@turnkey/solana": {
    "signTransaction": async (line) => {
      const signed = await solana(line).signTransaction(solanaTransaction(line), line.solanaAddress);
      return must(verify(null, signed.message.serialize(), solanaKey(line), signed.signatures[0]), "signature");
    },
    "addSignature": async (line) => {
      const from = new PublicKey(line.solanaAddress);
      const tx = new Transaction({ feePayer: from, recentBlockhash: line.blockhash }).add(SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports: 5 }));
      await solana(line).addSignature(tx, line.solanaAddress);
      return must(tx.verifySignatures(), "signature");
    },
    "signMessage": (line) => solana(line).signMessage(Buffer.from("hello"), line.solanaAddress),
  },
  "@solana/keychain-turnkey": {
    "isAvailable": async (line) => must(await keychain(line).isAvailable(), "available"),
    "signTransactions": (line) => keychainSigns(line, solanaTransaction(line)),
    "signTransactions, if another account pays the fee": (line) => keychainSigns(line, solanaTransaction(line, "GZSq3KvoFVhE22CQsaWSAxBoAvRiZSs7xVNa6yPecMUu")),
    "signMessages": (line) => keychain(line).signMessages([{ content: Buffer.from("hello"), signatures: {} }]),
  },
};

await serve(async (line) => {
  try {
    return { value: await calls[line.client][line.call](line) };
  } catch (error) {
    return { error: told(error) };
  }
});
