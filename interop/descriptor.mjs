// A watch-only wallet of output descriptors (BIP-380), without secrets: addresses and PSBTs
// by @scure/btc-signer, keys by @scure/bip32.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {op: "address", descriptor, index}    → {address, script}
//   {op: "create", inputs, outputs}       → {psbt}  in base64
//
// An input is {tx, vout, descriptor, index}, where tx is the previous transaction in hex.
// An output is {descriptor, index, amount} or {address, amount}, in satoshi. A request
// that fails gets {error}.
import { HDKey } from '@scure/bip32';
import * as btc from '@scure/btc-signer';
import { serve } from './lines.mjs';

const regtest = { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };
const testVersions = { private: 0x04358394, public: 0x043587cf };
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const unhex = (text) => new Uint8Array(Buffer.from(text, 'hex'));

const payments = {
  'pkh(': (pub) => btc.p2pkh(pub, regtest),
  'sh(wpkh(': (pub) => btc.p2sh(btc.p2wpkh(pub, regtest), regtest),
  'wpkh(': (pub) => btc.p2wpkh(pub, regtest),
  'tr(': (pub) => btc.p2tr(pub.slice(1), undefined, regtest),
};

// place returns an address of a descriptor: how to pay it, and how its key is derived.
function place({ descriptor, index }) {
  const match = /^([a-z(]+\()\[([0-9a-f]{8})((?:\/\d+h)*)\](tpub\w+)\/(\d+)\/\*\)+#\w{8}$/.exec(descriptor);
  if (!match) throw new Error(`not a descriptor of one key: ${descriptor}`);
  const [, kind, fingerprint, account, tpub, chain] = match;
  const pub = HDKey.fromExtendedKey(tpub, testVersions).deriveChild(+chain).deriveChild(index).publicKey;
  const hardened = account.split('/').slice(1).map((step) => parseInt(step) + 0x80000000);
  const der = { fingerprint: parseInt(fingerprint, 16), path: [...hardened, +chain, index] };
  const derivation = kind === 'tr(' ? { tapBip32Derivation: [[pub.slice(1), { hashes: [], der }]] } : { bip32Derivation: [[pub, der]] };
  return { payment: payments[kind](pub), derivation };
}

function create({ inputs, outputs }) {
  const tx = new btc.Transaction();
  for (const input of inputs) {
    const { payment, derivation } = place(input);
    const previous = btc.Transaction.fromRaw(unhex(input.tx), { allowUnknownOutputs: true, disableScriptCheck: true });
    tx.addInput({
      txid: previous.id, index: input.vout, nonWitnessUtxo: unhex(input.tx), ...payment, ...derivation,
      ...(payment.type === 'pkh' ? {} : { witnessUtxo: previous.getOutput(input.vout) }),
    });
  }
  for (const output of outputs) {
    const amount = BigInt(output.amount);
    if (output.address) {
      tx.addOutputAddress(output.address, amount, regtest);
      continue;
    }
    const { payment, derivation } = place(output);
    tx.addOutput({ script: payment.script, amount, redeemScript: payment.redeemScript, ...derivation });
  }
  return { psbt: Buffer.from(tx.toPSBT(0)).toString('base64') };
}

const operations = {
  address: (request) => {
    const { payment } = place(request);
    return { address: payment.address, script: hex(payment.script) };
  },
  create,
};

await serve((request) => operations[request.op](request));
