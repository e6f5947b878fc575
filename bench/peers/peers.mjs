// Signs transactions and messages with JavaScript libraries, and times them.
//
// Reads requests and writes answers, one JSON object per line:
//
//   {op: "load", library, secrets, transactions}  → {}             hex without 0x; messages as text
//   {op: "sign", i}                               → {signed}       hex
//   {op: "time", from, calls}                     → {nanoseconds}
//
// A request that fails gets {error}. load prepares the keys, as a server would
// keep them. A call starts from the unsigned bytes in hex and ends with signed hex.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(`${process.cwd()}/`);
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const unhex = (text) => new Uint8Array(Buffer.from(text, 'hex'));

// bitcoinjs is bitcoinjs-lib with an implementation of the curve.
async function bitcoinjs(ecc) {
  const bitcoin = await import('bitcoinjs-lib');
  const { ECPairFactory } = await import('ecpair');
  bitcoin.initEccLib(ecc);
  const zeroAux = new Uint8Array(32);
  const ECPair = ECPairFactory({ ...ecc, signSchnorr: (hash, key, aux = zeroAux) => ecc.signSchnorr(hash, key, aux) });
  return {
    key(secret) {
      const plain = ECPair.fromPrivateKey(unhex(secret));
      plain.lowR = true; // as the engine signs
      return { plain, tweaked: plain.tweak(bitcoin.crypto.taggedHash('TapTweak', plain.publicKey.slice(1))) };
    },
    sign({ plain, tweaked }, unsigned) {
      const packet = bitcoin.Psbt.fromHex(unsigned);
      packet.data.inputs.forEach((input, index) => packet.signInput(index, input.tapInternalKey ? tweaked : plain));
      return packet.toHex();
    },
  };
}

// For each library: how it turns a secret into a key, and how it signs with that key.
const libraries = {
  async viem() {
    const { parseTransaction } = await import('viem');
    const { privateKeyToAccount } = await import('viem/accounts');
    return {
      key: (secret) => privateKeyToAccount(`0x${secret}`),
      sign: (account, unsigned) => account.signTransaction(parseTransaction(`0x${unsigned}`)),
    };
  },

  async ethers() {
    const { SigningKey, Transaction } = await import('ethers');
    return {
      key: (secret) => new SigningKey(`0x${secret}`),
      sign(key, unsigned) {
        const transaction = Transaction.from(`0x${unsigned}`);
        transaction.signature = key.sign(transaction.unsignedHash);
        return transaction.serialized;
      },
    };
  },

  async 'viem-typed'() {
    const { privateKeyToAccount } = await import('viem/accounts');
    return {
      key: (secret) => privateKeyToAccount(`0x${secret}`),
      sign: (account, text) => account.signTypedData(JSON.parse(text)),
    };
  },

  async 'viem-personal'() {
    const { privateKeyToAccount } = await import('viem/accounts');
    return {
      key: (secret) => privateKeyToAccount(`0x${secret}`),
      sign: (account, message) => account.signMessage({ message }),
    };
  },

  async 'ethers-typed'() {
    const { Wallet } = await import('ethers');
    return {
      key: (secret) => new Wallet(`0x${secret}`),
      sign(wallet, text) {
        const { domain, types: { EIP712Domain, ...types }, message } = JSON.parse(text);
        return wallet.signTypedData(domain, types, message);
      },
    };
  },

  async 'ethers-personal'() {
    const { Wallet } = await import('ethers');
    return {
      key: (secret) => new Wallet(`0x${secret}`),
      sign: (wallet, message) => wallet.signMessage(message),
    };
  },

  // Wallet Core takes fields, not bytes. Reading them from the bytes is not timed.
  async 'wallet-core'() {
    const core = await require('@trustwallet/wallet-core').initWasm();
    const { TW } = require('@trustwallet/wallet-core');
    const { Transaction } = await import('ethers');
    const { SigningInput, SigningOutput, TransactionMode } = TW.Ethereum.Proto;
    const uint = (value) => unhex(value.toString(16).padStart(value.toString(16).length + (value.toString(16).length % 2), '0'));
    return {
      key: unhex,
      prepare(unsigned) {
        const tx = Transaction.from(`0x${unsigned}`);
        return {
          chainId: uint(tx.chainId), nonce: uint(BigInt(tx.nonce)), txMode: TransactionMode.Enveloped,
          gasLimit: uint(tx.gasLimit), maxFeePerGas: uint(tx.maxFeePerGas), maxInclusionFeePerGas: uint(tx.maxPriorityFeePerGas),
          toAddress: tx.to, transaction: { contractGeneric: { amount: uint(tx.value), data: unhex(tx.data.slice(2)) } },
        };
      },
      sign(privateKey, fields) {
        const input = SigningInput.encode(SigningInput.create({ ...fields, privateKey })).finish();
        const output = SigningOutput.decode(core.AnySigner.sign(input, core.CoinType.ethereum));
        return hex(output.encoded);
      },
    };
  },

  // OKX's Ethereum package takes fields, not bytes. Reading them from the bytes is not timed.
  async 'okx-ethereum'() {
    const okx = require('@okxweb3/coin-ethereum');
    const { Transaction } = await import('ethers');
    const hexOf = (value) => `0x${BigInt(value).toString(16)}`;
    return {
      key: (secret) => secret,
      prepare(unsigned) {
        const tx = Transaction.from(`0x${unsigned}`);
        return {
          type: 2, chainId: hexOf(tx.chainId), nonce: hexOf(tx.nonce), gasLimit: hexOf(tx.gasLimit), to: tx.to, value: hexOf(tx.value),
          data: tx.data, maxFeePerGas: hexOf(tx.maxFeePerGas), maxPriorityFeePerGas: hexOf(tx.maxPriorityFeePerGas),
        };
      },
      sign: (secret, fields) => okx.signTransaction(secret, fields),
    };
  },

  async 'okx-solana'() {
    const { web3 } = require('@okxweb3/coin-solana');
    const { signUtil } = require('@okxweb3/crypto-lib');
    return {
      key: (secret) => web3.Keypair.fromSecretKey(signUtil.ed25519.fromSeed(Buffer.from(secret, 'hex')).secretKey),
      sign(pair, unsigned) {
        const transaction = web3.VersionedTransaction.deserialize(unhex(unsigned));
        transaction.sign([pair]);
        return hex(transaction.serialize());
      },
    };
  },

  async 'okx-tron'() {
    const okx = require('@okxweb3/coin-tron');
    const { createHash } = await import('node:crypto');
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    return {
      key: (secret) => secret,
      shown(signature) { // with low s: this library returns either
        const s = BigInt(`0x${signature.slice(64, 128)}`);
        return signature.slice(0, 64) + (s > order / 2n ? order - s : s).toString(16).padStart(64, '0');
      },
      sign: (secret, unsigned) => okx.signByTxId(createHash('sha256').update(unhex(unsigned)).digest('hex'), secret),
    };
  },

  async kit() {
    const kit = await import('@solana/kit');
    const decoder = kit.getTransactionDecoder();
    const encoder = kit.getTransactionEncoder();
    return {
      key: (secret) => kit.createKeyPairFromPrivateKeyBytes(unhex(secret)),
      sign: async (pair, unsigned) => hex(encoder.encode(await kit.signTransaction([pair], decoder.decode(unhex(unsigned))))),
    };
  },

  async 'web3.js'() {
    const { Keypair, VersionedTransaction } = await import('@solana/web3.js');
    return {
      key: (secret) => Keypair.fromSeed(unhex(secret)),
      sign(pair, unsigned) {
        const transaction = VersionedTransaction.deserialize(unhex(unsigned));
        transaction.sign([pair]);
        return hex(transaction.serialize());
      },
    };
  },

  bitcoinjs: async () => bitcoinjs(await import('@bitcoinerlab/secp256k1')),

  // The same with libsecp256k1, compiled to WebAssembly, instead of @noble/curves.
  'bitcoinjs-libsecp256k1': async () => bitcoinjs(await import('tiny-secp256k1')),

  async scure() {
    const { Transaction } = await import('@scure/btc-signer');
    const zeroAux = new Uint8Array(32);
    return {
      key: unhex,
      sign(secret, unsigned) {
        const packet = Transaction.fromPSBT(unhex(unsigned), { lowR: true }); // as the engine signs
        packet.sign(secret, undefined, zeroAux);
        return hex(packet.toPSBT());
      },
    };
  },

  async ox() {
    const { Secp256k1 } = await import('ox');
    const { SignatureEnvelope, TxEnvelopeTempo } = await import('ox/tempo');
    return {
      key: (secret) => `0x${secret}`,
      sign(privateKey, unsigned) {
        const envelope = TxEnvelopeTempo.deserialize(`0x${unsigned}`);
        const payload = TxEnvelopeTempo.getSignPayload(envelope);
        const signature = SignatureEnvelope.from(Secp256k1.sign({ payload, privateKey }));
        return TxEnvelopeTempo.serialize(envelope, { signature });
      },
    };
  },

  // TronWeb signs a transaction in JSON and returns it with its signature.
  async tronweb() {
    const { utils } = await import('tronweb');
    const { createHash } = await import('node:crypto');
    return {
      key: (secret) => secret,
      sign(secret, unsigned) {
        const txID = createHash('sha256').update(unhex(unsigned)).digest('hex');
        return utils.crypto.signTransaction(secret, { txID, raw_data_hex: unsigned }).signature[0].toLowerCase();
      },
    };
  },
};

let library;
let keys;
let transactions;
const sign = (i) => library.sign(keys[i % keys.length], transactions[i % transactions.length]);

const operations = {
  async load(request) {
    library = await libraries[request.library]();
    keys = await Promise.all(request.secrets.map(library.key));
    transactions = request.transactions.map(library.prepare ?? ((unsigned) => unsigned));
    for (let i = 0; i < 300; i++) await sign(i); // so that the JIT has compiled it
    return {};
  },
  async sign({ i }) {
    const signed = await sign(i);
    return { signed: library.shown?.(signed) ?? signed };
  },
  async time({ from, calls }) {
    const start = process.hrtime.bigint();
    for (let i = from; i < from + calls; i++) await sign(i);
    return { nanoseconds: Number(process.hrtime.bigint() - start) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = await operations[request.op](request);
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0);
