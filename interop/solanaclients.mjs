// Builds transactions with the current clients of Solana's programs, and prints a JSON line
// {"name","transaction":hex,"lookups":{table:[address…]}} for each, with lookups only if
// it has some. The signer is key number 0 of interop/solana_test.go.
import { createHash } from 'node:crypto';
import * as kit from '@solana/kit';
import * as web3 from '@solana/web3.js';
import * as system from '@solana-program/system';
import * as stake from '@solana-program/stake';
import * as token from '@solana-program/token';
import * as token2022 from '@solana-program/token-2022';
import * as tables from '@solana-program/address-lookup-table';
import * as memo from '@solana-program/memo';
import * as budget from '@solana-program/compute-budget';

const digest = (text) => new Uint8Array(createHash('sha256').update(text).digest());
const at = (name) => kit.address(new web3.PublicKey(digest(`client ${name}`)).toBase58());
const us = await kit.createKeyPairSignerFromPrivateKeyBytes(digest('interop signer 0'));
const fresh = await kit.createKeyPairSignerFromPrivateKeyBytes(digest('interop signer 1'));
const lifetime = { blockhash: kit.blockhash(new web3.PublicKey(digest('blockhash')).toBase58()), lastValidBlockHeight: 1n };

function print(name, instructions, lookups) {
  let message = kit.createTransactionMessage({ version: 0 });
  message = kit.setTransactionMessageFeePayer(us.address, message);
  message = kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, message);
  message = kit.appendTransactionMessageInstructions(instructions, message);
  if (lookups) message = kit.compressTransactionMessageUsingAddressLookupTables(message, lookups);
  const bytes = kit.getTransactionEncoder().encode(kit.compileTransaction(message));
  process.stdout.write(JSON.stringify({ name, transaction: Buffer.from(bytes).toString('hex'), lookups }) + '\n');
}

const transfer = system.getTransferSolInstruction({ source: us, destination: at('friend'), amount: 1_000_000n });
print('system transfer', [transfer]);
print('system transfer with a priority fee and a memo', [
  budget.getSetComputeUnitLimitInstruction({ units: 30_000 }), budget.getSetComputeUnitPriceInstruction({ microLamports: 20_000n }),
  transfer, memo.getAddMemoInstruction({ memo: 'invoice 17', signers: [us] })]);
print('system create account', [
  system.getCreateAccountInstruction({ payer: us, newAccount: fresh, lamports: 1_500_000n, space: 80n, programAddress: system.SYSTEM_PROGRAM_ADDRESS }),
  system.getInitializeNonceAccountInstruction({ nonceAccount: fresh.address, nonceAuthority: us.address })]);
print('nonce advance and transfer', [system.getAdvanceNonceAccountInstruction({ nonceAccount: at('nonce'), nonceAuthority: us }), transfer]);

for (const [name, client, program] of [['token', token, token.TOKEN_PROGRAM_ADDRESS], ['token-2022', token2022, token2022.TOKEN_2022_PROGRAM_ADDRESS]]) {
  const mint = at('mint');
  const [source] = await client.findAssociatedTokenPda({ owner: us.address, mint, tokenProgram: program });
  const [destination] = await client.findAssociatedTokenPda({ owner: at('friend'), mint, tokenProgram: program });
  const create = client.getCreateAssociatedTokenIdempotentInstruction({ payer: us, ata: destination, owner: at('friend'), mint, tokenProgram: program });
  const send = client.getTransferCheckedInstruction({ source, mint, destination, authority: us, amount: 250_000_000n, decimals: 6 });
  print(`${name} transfer to a new account`, [create, send]);
  print(`${name} approve`, [client.getApproveCheckedInstruction({ source, mint, delegate: at('market'), owner: us, amount: 5n, decimals: 6 })]);
  print(`${name} close account`, [client.getCloseAccountInstruction({ account: source, destination: us.address, owner: us })]);
  print(`${name} burn`, [client.getBurnCheckedInstruction({ account: source, mint, authority: us, amount: 5n, decimals: 6 })]);
  print(`${name} mint authority given up`, [client.getSetAuthorityInstruction({ owned: mint, owner: us, authorityType: 0, newAuthority: null })]);
}

const staked = at('stake');
print('stake delegate', [stake.getDelegateStakeInstruction({ stake: staked, vote: at('vote'), stakeAuthority: us, unused: at('config') })]);
print('stake deactivate', [stake.getDeactivateInstruction({ stake: staked, stakeAuthority: us })]);
print('stake withdraw', [stake.getWithdrawInstruction({ stake: staked, recipient: us.address, withdrawAuthority: us, args: 1_000_000_000n })]);
print('stake merge', [stake.getMergeInstruction({ destinationStake: staked, sourceStake: at('stake 2'), stakeAuthority: us })]);
print('stake authorize another', [stake.getAuthorizeInstruction({ stake: staked, authority: us, arg0: at('friend'), arg1: 1 })]);
print('lookup table extended', [tables.getExtendLookupTableInstruction({ address: at('table'), authority: us, payer: us, addresses: [at('a'), at('b')] })]);

// A swap as an aggregator writes it: budget, token account, wrapped SOL, and a swap by the
// aggregator's program with accounts from lookup tables.
const pool = Array.from({ length: 12 }, (_, i) => at(`pool ${i}`));
const lookups = { [at('aggregator table')]: pool };
const wrapped = at('wrapped');
const swap = { programAddress: kit.address('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'), data: new Uint8Array(64).fill(7),
  accounts: [{ address: us.address, role: 3 }, { address: wrapped, role: 1 }, ...pool.map((address, i) => ({ address, role: i % 2 }))] };
print('swap by an aggregator with a lookup table', [
  budget.getSetComputeUnitLimitInstruction({ units: 300_000 }), budget.getSetComputeUnitPriceInstruction({ microLamports: 50_000n }),
  system.getTransferSolInstruction({ source: us, destination: wrapped, amount: 2_000_000_000n }),
  token.getSyncNativeInstruction({ account: wrapped }), swap,
  token.getCloseAccountInstruction({ account: wrapped, destination: us.address, owner: us })], lookups);
print('transfer to an entry of a lookup table', [system.getTransferSolInstruction({ source: us, destination: pool[3], amount: 5n })], lookups);

// The older client, @solana/web3.js.
const payer = new web3.PublicKey(us.address);
const legacy = (name, ...instructions) => {
  const tx = new web3.Transaction({ feePayer: payer, recentBlockhash: lifetime.blockhash }).add(...instructions);
  const message = new web3.VersionedTransaction(tx.compileMessage());
  process.stdout.write(JSON.stringify({ name, transaction: Buffer.from(message.serialize()).toString('hex') }) + '\n');
};
const key = (name) => new web3.PublicKey(at(name));
legacy('web3.js transfer', web3.SystemProgram.transfer({ fromPubkey: payer, toPubkey: key('friend'), lamports: 5 }));
legacy('web3.js stake withdraw', ...web3.StakeProgram.withdraw({ stakePubkey: key('stake'), authorizedPubkey: payer, toPubkey: payer, lamports: 5 }).instructions);
legacy('web3.js stake deactivate', ...web3.StakeProgram.deactivate({ stakePubkey: key('stake'), authorizedPubkey: payer }).instructions);
legacy('web3.js nonce advance', web3.SystemProgram.nonceAdvance({ noncePubkey: key('nonce'), authorizedPubkey: payer }));
legacy('web3.js vote withdraw', ...web3.VoteProgram.withdraw({ votePubkey: key('vote'), authorizedWithdrawerPubkey: payer, lamports: 5, toPubkey: payer }).instructions);
legacy('web3.js assign', web3.SystemProgram.assign({ accountPubkey: payer, programId: key('friend') }));
