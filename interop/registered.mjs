// Derives addresses of wallet policies (BIP-388) with @scure/bip32 and bitcoinjs-lib.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {template, keys, change, index} → {hex}   the output script
//
// template has multi or sortedmulti in wsh, sh(wsh) or sh, or multi_a or sortedmulti_a in the
// tree of tr. A request that fails gets {error}.
import * as ecc from '@bitcoinerlab/secp256k1';
import { HDKey } from '@scure/bip32';
import * as bitcoin from 'bitcoinjs-lib';
import { serve } from './lines.mjs';

bitcoin.initEccLib(ecc);
const { payments, opcodes, script } = bitcoin;

// publicKey derives the key of an expression such as @0/** or @1/<2;3>/*.
function publicKey(expression, { keys, change, index }) {
  const [, item, receive, internal] = /^@(\d+)\/(?:\*\*|<(\d+);(\d+)>\/\*)$/.exec(expression);
  const xpub = keys[Number(item)].replace(/^\[[^\]]*\]/, '');
  const steps = [Number(receive ?? 0), Number(internal ?? 1)];
  return Buffer.from(HDKey.fromExtendedKey(xpub).deriveChild(steps[change ? 1 : 0]).deriveChild(index).publicKey);
}

// multisig returns the threshold and the keys of NAME(k,KEY,…), sorted if the name says so.
function multisig(text, request, cut = 0) {
  const [, sorted, inner] = /^(sorted)?multi(?:_a)?\((.*)\)$/.exec(text);
  const [k, ...keys] = inner.split(',');
  const pubkeys = keys.map((key) => publicKey(key, request).subarray(cut));
  if (sorted) pubkeys.sort(Buffer.compare);
  return { m: Number(k), pubkeys };
}

function leaf(text, request) {
  const { m, pubkeys } = multisig(text, request, 1);
  const code = pubkeys.flatMap((key, i) => [key, i === 0 ? opcodes.OP_CHECKSIG : opcodes.OP_CHECKSIGADD]);
  return { output: script.compile([...code, script.number.encode(m).length === 1 && m <= 16 ? opcodes.OP_1 - 1 + m : script.number.encode(m), opcodes.OP_NUMEQUAL]) };
}

// tree returns the leaves of {LEFT,RIGHT} as bitcoinjs-lib nests them.
function tree(text, request) {
  if (!text.startsWith('{')) return leaf(text, request);
  let depth = 0;
  for (let i = 1; i < text.length; i++) {
    if ('{('.includes(text[i])) depth++;
    if ('})'.includes(text[i])) depth--;
    if (text[i] === ',' && depth === 0) return [tree(text.slice(1, i), request), tree(text.slice(i + 1, -1), request)];
  }
  throw new Error(`no tree: ${text}`);
}

function output(template, request) {
  const inner = template.slice(template.indexOf('(') + 1, -1);
  if (template.startsWith('tr(')) {
    const comma = inner.indexOf(',');
    const internalPubkey = publicKey(inner.slice(0, comma), request).subarray(1);
    return payments.p2tr({ internalPubkey, scriptTree: tree(inner.slice(comma + 1), request) });
  }
  const redeem = /multi/.test(inner.slice(0, 11)) && !inner.startsWith('wsh(') ? payments.p2ms(multisig(inner, request)) : output(inner, request);
  return template.startsWith('wsh(') ? payments.p2wsh({ redeem }) : payments.p2sh({ redeem });
}

await serve((request) => ({ hex: Buffer.from(output(request.template, request).output).toString('hex') }));
