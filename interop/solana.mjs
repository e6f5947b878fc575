// Builds and signs Solana transactions with @solana/kit and @solana/web3.js, and
// runs transactions in litesvm. Requests and answers are JSON, one per line.
//
//   {"op":"build","version":"legacy"|0|1,"signers":n,"lookups":bool,"mask":m,"number":k}
//     → {"blockhash":hex,"cases":[{"by","unsigned","signed"}…]}
//   {"op":"run","transaction":hex}
//     → {"error":""|text}
import { createHash } from 'node:crypto';
import * as kit from '@solana/kit';
import * as web3 from '@solana/web3.js';
import { LiteSVM } from 'litesvm';
import { serve } from './lines.mjs';

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const SYSTEM = '11111111111111111111111111111111';
const LOOKUP_TABLES = 'AddressLookupTab1e1111111111111111111111111';

const digest = (text) => new Uint8Array(createHash('sha256').update(text).digest());
const base58 = (bytes) => new web3.PublicKey(bytes).toBase58();
const hex = (bytes) => Buffer.from(bytes).toString('hex');

const svm = new LiteSVM().withSigverify(true).withBlockhashCheck(false).withNativeMints();
const setAccount = (address, programAddress, data, lamports = 10_000_000_000n) =>
  svm.setAccount({ address, programAddress, data, lamports, executable: false, space: BigInt(data.length) });

// The signers, whose secrets solana_test.go has as well.
const seeds = Array.from({ length: 12 }, (_, i) => digest(`interop signer ${i}`));
const keypairs = seeds.map((seed) => web3.Keypair.fromSeed(seed));
const kitKeys = await Promise.all(seeds.map((seed) => kit.createKeyPairFromPrivateKeyBytes(seed)));
setAccount(keypairs[0].publicKey.toBase58(), SYSTEM, new Uint8Array());

// A lookup table of 20 accounts, as encoded on chain.
const table = base58(digest('interop table'));
const entries = Array.from({ length: 20 }, (_, i) => base58(digest(`interop entry ${i}`)));
{
  const data = new Uint8Array(56 + 32 * entries.length);
  const view = new DataView(data.buffer);
  view.setUint32(0, 1, true); // state: lookup table
  view.setBigUint64(4, 2n ** 64n - 1n, true); // never deactivated
  entries.forEach((entry, i) => data.set(new web3.PublicKey(entry).toBytes(), 56 + 32 * i));
  setAccount(table, LOOKUP_TABLES, data);
  svm.warpToSlot(1000n);
}

// A memo that all signers sign, and transfers: with lookups, to accounts of the table.
function instructions({ signers, lookups, number }) {
  const transfer = new Uint8Array(12);
  new DataView(transfer.buffer).setUint32(0, 2, true);
  new DataView(transfer.buffer).setBigUint64(4, 1_000_000n, true);
  const targets = lookups ? [entries[number % 20], entries[(number + 7) % 20]] : [base58(digest(`interop target ${number}`))];
  return [
    { program: MEMO, accounts: keypairs.slice(0, signers).map((k, i) => [k.publicKey.toBase58(), true, (i + number) % 3 === 0]), data: Buffer.from(`number ${number}`) },
    ...targets.map((target) => ({ program: SYSTEM, accounts: [[keypairs[0].publicKey.toBase58(), true, true], [target, false, true]], data: transfer })),
  ];
}

async function withKit(request, blockhash) {
  let message = kit.createTransactionMessage({ version: request.version });
  message = kit.setTransactionMessageFeePayer(keypairs[0].publicKey.toBase58(), message);
  message = kit.setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 1n }, message);
  message = kit.appendTransactionMessageInstructions(instructions(request).map(({ program, accounts, data }) => ({
    programAddress: program,
    accounts: accounts.map(([address, isSigner, isWritable]) => ({ address, role: (isSigner ? 2 : 0) | (isWritable ? 1 : 0) })),
    data,
  })), message);
  if (request.version === 1) {
    const m = request.mask;
    message = kit.setTransactionMessageConfig({
      ...(m & 1 && { priorityFeeLamports: 1000n + BigInt(request.number) }),
      ...(m & 2 && { computeUnitLimit: 1_000_000 }),
      ...(m & 4 && { loadedAccountsDataSizeLimit: 1 << 20 }),
      ...(m & 8 && { heapSize: 1024 * (32 + request.number % 225) }),
    }, message);
  }
  if (request.lookups) {
    message = kit.compressTransactionMessageUsingAddressLookupTables(message, { [table]: entries });
  }
  const transaction = kit.compileTransaction(message);
  const encode = (t) => hex(kit.getTransactionEncoder().encode(t));
  const signed = await kit.signTransaction(kitKeys.slice(0, request.signers), transaction);
  return { by: '@solana/kit', unsigned: encode(transaction), signed: encode(signed) };
}

function withWeb3(request, recentBlockhash) {
  const payerKey = keypairs[0].publicKey;
  const list = instructions(request).map(({ program, accounts, data }) => new web3.TransactionInstruction({
    programId: new web3.PublicKey(program),
    keys: accounts.map(([address, isSigner, isWritable]) => ({ pubkey: new web3.PublicKey(address), isSigner, isWritable })),
    data: Buffer.from(data),
  }));
  const message = new web3.TransactionMessage({ payerKey, recentBlockhash, instructions: list });
  const tables = request.lookups ? [new web3.AddressLookupTableAccount({
    key: new web3.PublicKey(table),
    state: { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: entries.map((e) => new web3.PublicKey(e)) },
  })] : [];
  const compiled = request.version === 0 ? message.compileToV0Message(tables) : message.compileToLegacyMessage();
  const transaction = new web3.VersionedTransaction(compiled);
  const unsigned = hex(transaction.serialize());
  transaction.sign(keypairs.slice(0, request.signers));
  return { by: '@solana/web3.js', unsigned, signed: hex(transaction.serialize()) };
}

async function build(request) {
  const blockhash = digest(`interop blockhash ${request.number}`);
  const cases = [await withKit(request, base58(blockhash))];
  if (request.version !== 1) cases.push(withWeb3(request, base58(blockhash)));
  return { blockhash: hex(blockhash), cases };
}

function run({ transaction }) {
  const result = svm.sendTransaction(kit.getTransactionDecoder().decode(Buffer.from(transaction, 'hex')));
  const failed = typeof result.err === 'function';
  return { error: failed ? /err: ([^,]*)/.exec(result.toString())[1] : '' };
}

await serve((request) => (request.op === 'build' ? build(request) : run(request)));
