// Signs, converts and finalizes PSBTs with bitcoinjs-lib and @scure/btc-signer.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {op: "finalize", lib, psbt}          → {hex}   the network transaction
//   {op: "sign", lib, psbt, privateKey}  → {hex}   the PSBT; Schnorr with zero auxiliary data,
//                                                  bitcoinjs's ECDSA with a low r
//   {op: "convert", psbt}                → {hex}   as version 2 (BIP-370), by @scure/btc-signer
//
// lib is "bitcoinjs" (version 0 only) or "scure". A request that fails gets
// {error}.
import * as ecc from '@bitcoinerlab/secp256k1';
import { Transaction } from '@scure/btc-signer';
import * as bitcoin from 'bitcoinjs-lib';
import { ECPairFactory } from 'ecpair';
import { serve } from './lines.mjs';

bitcoin.initEccLib(ecc);
const zeroAux = new Uint8Array(32);
const ECPair = ECPairFactory({ ...ecc, signSchnorr: (hash, key, aux = zeroAux) => ecc.signSchnorr(hash, key, aux) });
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const unhex = (text) => new Uint8Array(Buffer.from(text, 'hex'));

const options = { allowUnknownInputs: true, allowUnknownOutputs: true, disableScriptCheck: true };

function bitcoinjs(psbt) {
  return bitcoin.Psbt.fromHex(psbt);
}

// signBitcoinJS tweaks the key for inputs that are spent by the key path, as bitcoinjs-lib
// leaves to its caller.
function signBitcoinJS({ psbt, privateKey }) {
  const packet = bitcoinjs(psbt);
  const key = ECPair.fromPrivateKey(unhex(privateKey));
  key.lowR = true;
  packet.data.inputs.forEach((input, index) => {
    packet.signInput(index, signerFor(input, key));
  });
  return packet.toHex();
}

function signerFor(input, key) {
  const x = key.publicKey.slice(1);
  if (!input.tapInternalKey || hex(input.tapInternalKey) !== hex(x)) return key;
  const root = input.tapMerkleRoot ?? new Uint8Array();
  return key.tweak(bitcoin.crypto.taggedHash('TapTweak', Buffer.concat([x, root])));
}

function signScure({ psbt, privateKey }) {
  const tx = Transaction.fromPSBT(unhex(psbt), options);
  tx.sign(unhex(privateKey), undefined, zeroAux);
  return hex(tx.toPSBT());
}

function finalizeBitcoinJS({ psbt }) {
  const packet = bitcoinjs(psbt);
  packet.finalizeAllInputs();
  return packet.extractTransaction(true).toHex();
}

function finalizeScure({ psbt }) {
  const tx = Transaction.fromPSBT(unhex(psbt), options);
  tx.finalize();
  return hex(tx.extract());
}

function convert({ psbt }) {
  return hex(Transaction.fromPSBT(unhex(psbt), options).toPSBT(2));
}

const operations = {
  'sign bitcoinjs': signBitcoinJS,
  'sign scure': signScure,
  'finalize bitcoinjs': finalizeBitcoinJS,
  'finalize scure': finalizeScure,
  'convert scure': convert,
};

await serve((request) => ({ hex: operations[`${request.op} ${request.lib ?? 'scure'}`](request) }));
