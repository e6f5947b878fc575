// Writes and reads Uniform Resources and BBQr with the libraries of other wallets.
//
// Reads requests and writes answers, one JSON object per line. Bytes are hex.
//
//   {op: "parts", type, cbor, fragment, count}       → {parts}     @ngraveio/bc-ur
//   {op: "join", parts}                              → {type, cbor} @ngraveio/bc-ur
//   {op: "lossy", type, cbor, fragment, lost: [bool]} → {shown, parts}
//   {op: "request", chain, …}                        → {parts}     Keystone's SDK
//   {op: "signature", parts}                         → {requestId, signature, psbt}
//   {op: "hdkey", parts}                             → {type, bytes, path, text}
//   {op: "bbqr", type, encoding, raw, split}         → {parts}     Coinkite's bbqr
//   {op: "read", width, height, grey}                → {text}      jsQR; grey: base64
//
// A request that fails gets {error}.
import { createRequire } from 'node:module';
import { splitQRs } from 'bbqr';
import { serve } from './lines.mjs';

const require = createRequire(import.meta.url);
const { UR, UREncoder, URDecoder } = require('@ngraveio/bc-ur');
const { KeystoneSDK } = require('@keystonehq/keystone-sdk');
const { CryptoHDKey, CryptoPSBT } = require('@keystonehq/bc-ur-registry');
const { ETHSignature } = require('@keystonehq/bc-ur-registry-eth');
const { SolSignature } = require('@keystonehq/bc-ur-registry-sol');

const jsQR = require('jsqr');

const sdk = new KeystoneSDK();
const encode = (ur, fragment, count) => {
  const encoder = new UREncoder(ur, fragment);
  return Array.from({ length: count ?? encoder.fragmentsLength }, () => encoder.nextPart());
};
const decode = (parts) => {
  const decoder = new URDecoder();
  for (const part of parts) if (!decoder.isComplete()) decoder.receivePart(part);
  return decoder.resultUR();
};

const operations = {
  parts: ({ type, cbor, fragment, count }) => ({ parts: encode(new UR(Buffer.from(cbor, 'hex'), type), fragment, count) }),
  join({ parts }) {
    const ur = decode(parts);
    return { type: ur.type, cbor: ur.cbor.toString('hex') };
  },
  lossy({ type, cbor, fragment, lost }) {
    const encoder = new UREncoder(new UR(Buffer.from(cbor, 'hex'), type), fragment);
    const decoder = new URDecoder();
    let shown = 0;
    while (!decoder.isComplete()) {
      const part = encoder.nextPart();
      if (!lost[shown++ % lost.length]) decoder.receivePart(part);
    }
    return { shown, parts: encoder.fragmentsLength };
  },
  request({ chain, fragment = 200, ...props }) {
    const ur = chain === 'btc' ? sdk.btc.generatePSBT(Buffer.from(props.psbt, 'hex')) : sdk[chain].generateSignRequest(props);
    return { parts: encode(ur, fragment) };
  },
  signature({ parts }) {
    const ur = decode(parts);
    switch (ur.type) {
      case 'eth-signature': {
        const made = ETHSignature.fromCBOR(ur.cbor);
        return { ...sdk.eth.parseSignature(ur), bytes: made.getSignature().toString('hex') };
      }
      case 'sol-signature':
        return { ...sdk.sol.parseSignature(ur), bytes: SolSignature.fromCBOR(ur.cbor).getSignature().toString('hex') };
      case 'crypto-psbt':
        return { psbt: sdk.btc.parsePSBT(ur), bytes: CryptoPSBT.fromCBOR(ur.cbor).getPSBT().toString('hex') };
    }
    throw new Error(`unknown type ${ur.type}`);
  },
  hdkey({ parts }) {
    const ur = decode(parts);
    const key = CryptoHDKey.fromCBOR(ur.cbor);
    const origin = key.getOrigin();
    return { type: ur.type, bytes: origin.getSourceFingerprint().toString('hex'), path: origin.getPath(), text: key.getBip32Key() };
  },
  bbqr: ({ type, encoding, raw, split }) =>
    ({ parts: splitQRs(new Uint8Array(Buffer.from(raw, 'hex')), type, { encoding, minSplit: split ?? 1, maxVersion: 20 }).parts }),
  read({ width, height, grey }) {
    const pixels = Buffer.from(grey, 'base64');
    const rgba = new Uint8ClampedArray(4 * width * height);
    for (let i = 0; i < pixels.length; i++) rgba.set([pixels[i], pixels[i], pixels[i], 255], 4 * i);
    return { text: (jsQR.default ?? jsQR)(rgba, width, height)?.data ?? '' };
  },
};

await serve(({ op, ...request }) => operations[op](request));
