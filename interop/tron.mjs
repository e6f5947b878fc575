// Builds, signs and decodes Tron transactions with TronWeb and Wallet Core.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {op: "build", type, value, frame, permissionID, privateKey}
//       → {rawDataHex, txID, signature, signed}
//   {op: "decode", type, signed}
//       → {rawData, signatures, signers, txID, reencoded}
//   {op: "walletCore", transaction, privateKey}
//       → {rawDataHex, txID, signature}
//
// A request that fails gets {error}.
import { createRequire } from 'node:module';
import { utils } from 'tronweb';
import { serve } from './lines.mjs';

const require = createRequire(import.meta.url);
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const unhex = (text) => new Uint8Array(Buffer.from(text, 'hex'));
const { txJsonToPb, txPbToRawDataHex, txPbToTxID } = utils.transaction;

function build({ type, value, frame, permissionID, privateKey }) {
  const contract = { type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } };
  if (permissionID) contract.Permission_id = permissionID;
  const json = { visible: false, raw_data: { contract: [contract], ...frame } };
  const message = txJsonToPb(json);
  json.raw_data_hex = txPbToRawDataHex(message).toLowerCase();
  json.txID = txPbToTxID(message).replace(/^0x/, '');
  const { signature } = utils.crypto.signTransaction(privateKey, structuredClone(json));
  message.addSignature(unhex(signature[0]));
  return { rawDataHex: json.raw_data_hex, txID: json.txID, signature: signature[0].toLowerCase(), signed: hex(message.serializeBinary()) };
}

// decode reads a signed transaction with TronWeb's generated protobuf messages, and its
// contract with TronWeb's own decoder.
function decode({ type, signed }) {
  const message = globalThis.TronWebProto.Transaction.deserializeBinary(unhex(signed));
  const raw = message.getRawData().serializeBinary();
  return {
    rawData: utils.deserializeTx.deserializeTransaction(type, hex(raw)),
    signatures: message.getSignatureList_asU8().map(hex),
    txID: txPbToTxID(message).replace(/^0x/, ''),
    signers: message.getSignatureList_asU8().map((signature) => utils.crypto.ecRecover(txPbToTxID(message), hex(signature)).toLowerCase()),
    reencoded: hex(message.serializeBinary()),
  };
}

let core;
async function walletCore({ transaction, privateKey }) {
  core ??= await require('@trustwallet/wallet-core').initWasm();
  const { TW } = require('@trustwallet/wallet-core');
  const { SigningInput, SigningOutput } = TW.Tron.Proto;
  const input = SigningInput.fromObject({ transaction: withBytes(transaction), privateKey: unhex(privateKey) });
  const output = SigningOutput.decode(core.AnySigner.sign(SigningInput.encode(input).finish(), core.CoinType.tron));
  if (output.error) return { error: output.errorMessage || `error ${output.error}` };
  return { txID: hex(output.id), signature: hex(output.signature), rawDataHex: JSON.parse(output.json).raw_data_hex };
}

// withBytes turns {hex: "…"} into bytes.
function withBytes(value) {
  if (Array.isArray(value)) return value.map(withBytes);
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.hex === 'string') return unhex(value.hex);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBytes(inner)]));
}

const operations = { build, decode, walletCore };
await serve((request) => operations[request.op](request));
