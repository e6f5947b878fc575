// Derives the addresses of mnemonics, and reads and writes key files, with
// ethers, TronWeb, bitcoinjs-lib, Wallet Core, @scure/bip32 and @solana/web3.js.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {op: "derive", mnemonic, passphrase, path, curve}
//       → {ethereum, tron, p2pkh, p2sh, p2wpkh, p2tr}   on secp256k1
//       → {solana}                                       on Ed25519
//   {op: "extended", mnemonic, passphrase, path, child}
//       → {root, extended, child}                        extended private keys
//   {op: "keys", secret, web3, wif, keypair}
//       → {web3, wif, fromWeb3, fromWIF, solana}
//
// A request that fails gets {error}.
import { createRequire } from 'node:module';
import * as ecc from '@bitcoinerlab/secp256k1';
import { initEccLib, networks, payments } from 'bitcoinjs-lib';
import { ECPairFactory } from 'ecpair';
import { HDNodeWallet, Mnemonic, decryptKeystoreJson, encryptKeystoreJson, getBytes, computeAddress } from 'ethers';
import { HDKey } from '@scure/bip32';
import { Keypair } from '@solana/web3.js';
import { TronWeb } from 'tronweb';
import { serve } from './lines.mjs';

const require = createRequire(import.meta.url);
const { HDWallet, Curve } = await require('@trustwallet/wallet-core').initWasm();
initEccLib(ecc);
const ECPair = ECPairFactory(ecc);
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const network = networks.bitcoin;

function secp256k1({ mnemonic, passphrase, path }) {
  const node = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(mnemonic, passphrase), path);
  const pubkey = getBytes(node.publicKey);
  const witness = payments.p2wpkh({ pubkey, network });
  // TronWeb accepts only paths below Tron's coin type.
  const tron = path.startsWith("m/44'/195'") ? TronWeb.fromMnemonic(mnemonic, path, passphrase).address : TronWeb.address.fromPrivateKey(node.privateKey.slice(2));
  return {
    ethereum: node.address,
    tron,
    p2pkh: payments.p2pkh({ pubkey, network }).address,
    p2sh: payments.p2sh({ redeem: witness, network }).address,
    p2wpkh: witness.address,
    p2tr: payments.p2tr({ internalPubkey: pubkey.slice(1), network }).address,
  };
}

function ed25519({ mnemonic, passphrase, path }) {
  // Unlike ethers, Wallet Core does not normalize the passphrase, as BIP-39 requires.
  const wallet = HDWallet.createWithMnemonic(mnemonic, passphrase.normalize('NFKD'));
  const seed = wallet.getKeyByCurve(Curve.ed25519, path).data();
  wallet.delete();
  return { solana: Keypair.fromSeed(seed).publicKey.toBase58() };
}

// extended returns the master key, the key at a path, and a child derived from the text of
// that key.
function extended({ mnemonic, passphrase, path, child }) {
  const root = HDKey.fromMasterSeed(getBytes(Mnemonic.fromPhrase(mnemonic, passphrase).computeSeed()));
  const text = root.derive(path).privateExtendedKey;
  return { root: root.privateExtendedKey, extended: text, child: hex(HDKey.fromExtendedKey(text).deriveChild(child).privateKey) };
}

async function keys({ secret, web3, wif, keypair }) {
  const account = { address: computeAddress('0x' + secret), privateKey: '0x' + secret };
  const options = { scrypt: { N: 16, r: 8, p: 1 } };
  return {
    web3: await encryptKeystoreJson(account, 'pass word', options),
    wif: ECPair.fromPrivateKey(Buffer.from(secret, 'hex'), { network }).toWIF(),
    fromWeb3: (await decryptKeystoreJson(web3, 'pass word')).privateKey.slice(2),
    fromWIF: hex(ECPair.fromWIF(wif, network).privateKey),
    solana: Keypair.fromSecretKey(Uint8Array.from(JSON.parse(keypair))).publicKey.toBase58(),
  };
}

function answer(request) {
  if (request.op === 'keys') return keys(request);
  if (request.op === 'extended') return extended(request);
  return request.curve === 'CURVE_ED25519' ? ed25519(request) : secp256k1(request);
}

await serve(answer);
