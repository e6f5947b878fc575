// Executes Solana transactions in litesvm, each with its own accounts, and answers with the
// accounts before and after.
//
//   [{"accounts":[{address,owner,lamports,data}…],"transaction":hex,"watch":[address…]}…]
//     → [{"error":""|text,"before":[null|{address,owner,lamports,data}…],"after":[…]}…]
//
// Data is hex, lamports are decimal strings. Signatures and blockhashes are not checked:
// only what the programs do matters here.
import * as kit from '@solana/kit';
import { LiteSVM } from 'litesvm';
import { serve } from './lines.mjs';

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n);
svm.warpToSlot(5_000_000n);

function state(address) {
  const a = svm.getAccount(address);
  if (!a?.exists) return null;
  return { address, owner: a.programAddress, lamports: a.lamports.toString(), data: hex(a.data) };
}

function execute({ accounts, transaction, watch }) {
  for (const a of accounts) {
    const data = Buffer.from(a.data, 'hex');
    svm.setAccount({ address: a.address, programAddress: a.owner, data, lamports: BigInt(a.lamports), executable: false, space: BigInt(data.length) });
  }
  const before = watch.map(state);
  const result = svm.sendTransaction(kit.getTransactionDecoder().decode(Buffer.from(transaction, 'hex')));
  const failed = typeof result.err === 'function';
  return { error: failed ? result.toString() : '', before, after: watch.map(state) };
}

await serve((runs) => runs.map((run) => {
  try {
    return execute(run);
  } catch (error) {
    return { error: String(error), before: [], after: [] };
  }
}));
