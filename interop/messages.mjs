// Hashes, signs, reads and verifies messages with the libraries of wallets: viem,
// ethers, @metamask/eth-sig-util (V4), TronWeb and @solana/offchain-messages.
//
// Reads requests and writes answers, one JSON object per line. Bytes are hex without 0x.
//
//   {op: "typed", document, secret}
//       → {viem, ethers, sigUtil, signatures}   digests, or "refused: …"
//   {op: "encode", type, value}                 → {encoded}    by eth-sig-util
//   {op: "personal", message, secret}           → {signatures: {viem, ethers, sigUtil}}
//   {op: "authorization", authorization, secret} → {signatures: {viem, sigUtil}}
//   {op: "tron", message, secret}               → {signature, signer}
//   {op: "tip712", document, secret}            → {signature, valid}
//   {op: "tronVerify", message, signature}      → {signer}
//   {op: "offchain", message, secret}           → {bytes, signature}
//   {op: "offchainRead", bytes}                 → {message}
//   {op: "offchainVerify", bytes, signatures}   → {}
//
// A request that fails gets {error}.
import * as sigUtil from '@metamask/eth-sig-util';
import * as offchain from '@solana/offchain-messages';
import { createKeyPairFromPrivateKeyBytes } from '@solana/kit';
import { SigningKey, TypedDataEncoder, Wallet } from 'ethers';
import { Trx, utils as tron, TronWeb } from 'tronweb';
import { hashTypedData } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { serve } from './lines.mjs';

const V4 = sigUtil.SignTypedDataVersion.V4;
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const unhex = (text) => new Uint8Array(Buffer.from(text, 'hex'));
const bare = (text) => text.replace(/^0x/, '').toLowerCase();
const attempt = (run) => {
  try {
    return bare(run());
  } catch (error) {
    return `refused: ${String(error.message ?? error).split('\n')[0].slice(0, 200)}`;
  }
};

// reachable removes EIP712Domain and types that the message does not use, which ethers
// refuses.
function reachable({ types, primaryType }) {
  const used = {};
  const visit = (name) => {
    const base = name.replace(/\[.*$/, '');
    if (!types[base] || used[base]) return;
    used[base] = types[base];
    for (const member of types[base]) visit(member.type);
  };
  visit(primaryType);
  return used;
}

async function typed({ document, secret }) {
  const data = JSON.parse(document);
  const answer = {
    viem: attempt(() => hashTypedData(data)),
    ethers: attempt(() => TypedDataEncoder.hash(data.domain, reachable(data), data.message)),
    sigUtil: attempt(() => sigUtil.TypedDataUtils.eip712Hash(data, V4).toString('hex')),
  };
  if (secret) {
    answer.signatures = {
      viem: bare(await privateKeyToAccount(`0x${secret}`).signTypedData(data)),
      ethers: bare(new SigningKey(`0x${secret}`).sign(`0x${answer.ethers}`).serialized),
      sigUtil: bare(sigUtil.signTypedData({ privateKey: Buffer.from(secret, 'hex'), data, version: V4 })),
    };
  }
  return answer;
}

const operations = {
  typed,
  encode: ({ type, value }) => ({
    encoded: attempt(() => sigUtil.TypedDataUtils.encodeData('Message', { data: value }, { Message: [{ name: 'data', type }] }, V4).toString('hex')),
  }),
  personal: async ({ message, secret }) => ({
    signatures: {
      viem: bare(await privateKeyToAccount(`0x${secret}`).signMessage({ message: { raw: `0x${message}` } })),
      ethers: bare(await new Wallet(`0x${secret}`).signMessage(unhex(message))),
      sigUtil: bare(sigUtil.personalSign({ privateKey: Buffer.from(secret, 'hex'), data: `0x${message}` })),
    },
  }),
  authorization: async ({ authorization: { chainId, address, nonce }, secret }) => {
    const { r, s, yParity } = await privateKeyToAccount(`0x${secret}`).signAuthorization({ chainId, address, nonce });
    const theirs = sigUtil.signEIP7702Authorization({ privateKey: Buffer.from(secret, 'hex'), authorization: [chainId, address, nonce] });
    return { signatures: { viem: `${bare(r)}${bare(s)}${yParity ? '1c' : '1b'}`, sigUtil: bare(theirs) } };
  },
  tron: async ({ message, secret }) => {
    const text = Buffer.from(message, 'hex').toString('utf8');
    const web = new TronWeb({ fullHost: 'http://127.0.0.1:1' });
    const signature = await web.trx.signMessageV2(text, secret);
    return { signature: bare(signature), signer: await web.trx.verifyMessageV2(text, signature) };
  },
  tip712: ({ document, secret }) => {
    const { domain, types, primaryType, message } = JSON.parse(document);
    const signature = Trx.signTypedData(domain, reachable({ types, primaryType }), message, secret);
    return { signature: bare(signature), valid: Trx.verifyTypedData(domain, reachable({ types, primaryType }), message, signature, TronWeb.address.fromPrivateKey(secret)) };
  },
  tronVerify: ({ message, signature }) => ({ signer: tron.message.verifyMessage(Buffer.from(message, 'hex').toString('utf8'), `0x${signature}`) }),
  offchain: async ({ message, secret }) => {
    const envelope = offchain.compileOffchainMessageEnvelope(message);
    const signed = await offchain.partiallySignOffchainMessageEnvelope([await createKeyPairFromPrivateKeyBytes(unhex(secret))], envelope);
    return { bytes: hex(envelope.content), signature: hex(Object.values(signed.signatures).find((made) => made)) };
  },
  offchainRead: ({ bytes }) => ({ message: offchain.getOffchainMessageDecoder().decode(unhex(bytes)) }),
  offchainVerify: async ({ bytes, signatures }) => {
    await offchain.verifyOffchainMessageEnvelope({
      content: unhex(bytes),
      signatures: Object.fromEntries(Object.entries(signatures).map(([address, signature]) => [address, unhex(signature)])),
    });
    return {};
  },
};

await serve((request) => operations[request.op](request));
