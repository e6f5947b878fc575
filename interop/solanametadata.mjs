// Builds transactions with Metaplex's client for Token Metadata, and prints a JSON line
// {"name","transaction":hex,"names":{address:name}} for each. The signer is key number 0
// of interop/solana_test.go; accounts are the SHA-256 of "client NAME", as in
// solanaclients.mjs.
import { createHash } from 'node:crypto';
import * as kit from '@solana/kit';
import * as web3 from '@solana/web3.js';
import { none, publicKey, some } from '@metaplex-foundation/umi';
import * as mpl from '@metaplex-foundation/mpl-token-metadata';

const digest = (text) => new Uint8Array(createHash('sha256').update(text).digest());
const names = {};
const named = (name, key) => { names[key] = name; return publicKey(key); };
const at = (name) => named(name, new web3.PublicKey(digest(`client ${name}`)).toBase58());
const us = named('us', (await kit.createKeyPairSignerFromPrivateKeyBytes(digest('interop signer 0'))).address);
const fresh = named('new mint', (await kit.createKeyPairSignerFromPrivateKeyBytes(digest('interop signer 1'))).address);
const blockhash = new web3.PublicKey(digest('blockhash')).toBase58();

const signer = (key) => ({ publicKey: key, signMessage: null, signTransaction: null, signAllTransactions: null });
const programs = { splToken: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', splSystem: '11111111111111111111111111111111',
  splAssociatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', mplTokenMetadata: mpl.MPL_TOKEN_METADATA_PROGRAM_ID };
const context = {
  identity: signer(us), payer: signer(us),
  programs: { getPublicKey: (name, fallback) => publicKey(programs[name] ?? fallback) },
  eddsa: { findPda: (program, seeds) => {
    const [key, bump] = web3.PublicKey.findProgramAddressSync(seeds.map((s) => Buffer.from(s)), new web3.PublicKey(program));
    const parts = seeds.map((s) => Buffer.from(s)).map((s) => (s.length === 32 ? names[new web3.PublicKey(s).toBase58()] : s.toString())).filter(Boolean);
    return [named(`<${parts.join(' ')}>`, key.toBase58()), bump];
  } },
};

function print(name, builder) {
  const instructions = builder.getInstructions().map((i) => new web3.TransactionInstruction({ programId: new web3.PublicKey(i.programId),
    data: Buffer.from(i.data), keys: i.keys.map((k) => ({ ...k, pubkey: new web3.PublicKey(k.pubkey) })) }));
  const tx = new web3.Transaction({ feePayer: new web3.PublicKey(us), recentBlockhash: blockhash }).add(...instructions);
  const message = new web3.VersionedTransaction(tx.compileMessage());
  process.stdout.write(JSON.stringify({ name, transaction: Buffer.from(message.serialize()).toString('hex'), names }) + '\n');
}

const mint = at('mint');
const authority = signer(us);
const content = { name: 'Ape', symbol: 'APE', uri: 'https://example.org/1.json', sellerFeeBasisPoints: { basisPoints: 500n, identifier: '%', decimals: 2 },
  creators: some([{ address: us, verified: true, share: 60 }, { address: at('artist'), verified: false, share: 40 }]) };
const old = { ...content, sellerFeeBasisPoints: 500, collection: some({ key: at('collection'), verified: false }), uses: none() };
const rules = { authorizationRules: at('rules'), authorizationRulesProgram: publicKey('auth9SigNpDKz4sJJ1DfCTuZrZNSAgh9sFD3rboVmgg') };
const token = at('token');

print('create, a new programmable NFT', mpl.createV1(context, { ...content, mint: signer(fresh), authority, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible,
  collection: some({ key: at('collection'), verified: false }), ruleSet: some(at('rules')), printSupply: some(mpl.printSupply('Limited', [7n])) }));
print('create, of a mint that is there', mpl.createV1(context, { ...content, mint, authority, tokenStandard: mpl.TokenStandard.Fungible, decimals: some(6), masterEdition: undefined }));
print('create, for another', mpl.createV1(context, { ...content, mint: signer(fresh), authority, updateAuthority: at('friend'), tokenStandard: mpl.TokenStandard.NonFungible }));
print('mint', mpl.mintV1(context, { mint, authority, amount: 1, tokenOwner: at('friend'), tokenStandard: mpl.TokenStandard.NonFungible }));
print('mint, programmable', mpl.mintV1(context, { mint, authority, amount: 1, tokenOwner: us, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible }));
const transfer = { mint, authority, tokenOwner: us, destinationOwner: at('friend'), amount: 1 };
print('transfer', mpl.transferV1(context, { ...transfer, tokenStandard: mpl.TokenStandard.NonFungible }));
print('transfer, programmable, with rules', mpl.transferV1(context, { ...transfer, ...rules, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible,
  authorizationData: some({ payload: { map: new Map([['Amount', mpl.payloadType('Number', [1n])], ['To', mpl.payloadType('Pubkey', [at('friend')])]]) } }) }));
print('burn', mpl.burnV1(context, { mint, authority, tokenOwner: us, tokenStandard: mpl.TokenStandard.NonFungible }));
print('burn, programmable', mpl.burnV1(context, { mint, authority, tokenOwner: us, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible, collectionMetadata: at('collection metadata') }));
print('burn, fungible', mpl.burnV1(context, { mint, authority, tokenOwner: us, amount: 9n, tokenStandard: mpl.TokenStandard.Fungible }));
print('lock', mpl.lockV1(context, { mint, authority, token, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible }));
print('unlock', mpl.unlockV1(context, { mint, authority, token, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible }));
const delegate = { mint, authority, delegate: at('market'), tokenOwner: us, token, tokenStandard: mpl.TokenStandard.ProgrammableNonFungible, ...rules };
for (const role of ['Sale', 'Transfer', 'Utility', 'Staking', 'Standard', 'LockedTransfer']) {
  print(`delegate ${role}`, mpl[`delegate${role}V1`](context, { ...delegate, amount: 1, lockedAddress: at('locked') }));
  print(`revoke ${role}`, mpl[`revoke${role}V1`](context, delegate));
}
for (const role of ['Collection', 'Data', 'ProgrammableConfig', 'AuthorityItem', 'DataItem', 'CollectionItem', 'ProgrammableConfigItem', 'PrintDelegate']) {
  print(`delegate ${role}`, mpl[`delegate${role}V1`](context, delegate));
  print(`revoke ${role}`, mpl[`revoke${role}V1`](context, delegate));
}
print('update', mpl.updateV1(context, { mint, authority, data: some(old), isMutable: some(false), collection: mpl.collectionToggle('Clear'), ruleSet: mpl.ruleSetToggle('Set', [at('rules')]) }));
print('update, another update authority', mpl.updateAsUpdateAuthorityV2(context, { mint, authority, newUpdateAuthority: some(at('friend')), primarySaleHappened: some(true) }));
print('update as authority item delegate', mpl.updateAsAuthorityItemDelegateV2(context, { mint, authority, isMutable: some(true), tokenStandard: some(4) }));
print('update as collection delegate', mpl.updateAsCollectionDelegateV2(context, { mint, authority, collection: mpl.collectionToggle('Set', [{ key: at('collection'), verified: false }]) }));
print('update as data delegate', mpl.updateAsDataDelegateV2(context, { mint, authority, data: some(old) }));
print('update as rule delegate', mpl.updateAsProgrammableConfigDelegateV2(context, { mint, authority, ruleSet: mpl.ruleSetToggle('Clear') }));
print('verify creator', mpl.verifyCreatorV1(context, { authority, metadata: at('metadata') }));
print('unverify creator', mpl.unverifyCreatorV1(context, { authority, metadata: at('metadata') }));
print('verify collection', mpl.verifyCollectionV1(context, { authority, metadata: at('metadata'), collectionMint: at('collection') }));
print('unverify collection', mpl.unverifyCollectionV1(context, { authority, metadata: at('metadata'), collectionMint: at('collection') }));

// The older instructions.
print('create metadata, v3', mpl.createMetadataAccountV3(context, { mint, mintAuthority: authority, updateAuthority: us, data: old, isMutable: true, collectionDetails: some({ __kind: 'V1', size: 3n }) }));
print('update metadata, v2', mpl.updateMetadataAccountV2(context, { metadata: at('metadata'), updateAuthority: authority, data: some(old), newUpdateAuthority: some(at('friend')), primarySaleHappened: some(true), isMutable: none() }));
print('create master edition, v3', mpl.createMasterEditionV3(context, { mint, edition: at('edition'), metadata: at('metadata'), mintAuthority: authority, updateAuthority: authority, maxSupply: some(0n) }));
const item = { metadata: at('metadata'), collectionAuthority: authority, collectionMint: at('collection'), collection: at('collection metadata'), collectionMasterEditionAccount: at('edition') };
print('verify collection, old', mpl.verifyCollection(context, item));
print('unverify collection, old', mpl.unverifyCollection(context, { ...item, collectionAuthorityRecord: at('record') }));
print('set and verify collection', mpl.setAndVerifyCollection(context, { ...item, updateAuthority: us }));
print('verify sized', mpl.verifySizedCollectionItem(context, item));
print('unverify sized', mpl.unverifySizedCollectionItem(context, item));
print('set and verify sized', mpl.setAndVerifySizedCollectionItem(context, { ...item, updateAuthority: us }));
print('approve collection authority', mpl.approveCollectionAuthority(context, { collectionAuthorityRecord: at('record'), newCollectionAuthority: at('market'), updateAuthority: authority, metadata: at('metadata'), mint }));
print('revoke collection authority', mpl.revokeCollectionAuthority(context, { collectionAuthorityRecord: at('record'), delegateAuthority: at('market'), revokeAuthority: authority, metadata: at('metadata'), mint }));
print('freeze delegated', mpl.freezeDelegatedAccount(context, { delegate: authority, tokenAccount: token, edition: at('edition'), mint }));
print('thaw delegated', mpl.thawDelegatedAccount(context, { delegate: authority, tokenAccount: token, edition: at('edition'), mint }));
print('sign metadata', mpl.signMetadata(context, { metadata: at('metadata'), creator: authority }));
print('remove creator verification', mpl.removeCreatorVerification(context, { metadata: at('metadata'), creator: authority }));
print('primary sale happened', mpl.updatePrimarySaleHappenedViaToken(context, { metadata: at('metadata'), owner: authority, token }));
print('burn NFT, old', mpl.burnNft(context, { metadata: at('metadata'), owner: authority, mint, tokenAccount: token, masterEditionAccount: at('edition') }));
print('set collection size', mpl.setCollectionSize(context, { collectionMetadata: at('metadata'), collectionAuthority: authority, collectionMint: mint, setCollectionSizeArgs: { size: 9n } }));
print('set token standard', mpl.setTokenStandard(context, { metadata: at('metadata'), updateAuthority: authority, mint, edition: at('edition') }));

// Instructions that are not decoded.
print('print', mpl.printV1(context, { masterTokenAccountOwner: authority, masterEditionMint: mint, editionMint: signer(fresh), editionTokenAccountOwner: us, editionNumber: 1n, tokenStandard: mpl.TokenStandard.NonFungible }));
print('use', mpl.useV1(context, { mint, authority, token }));
