// Builds transactions as wallets and applications do with viem, ethers and viem/tempo, and
// prints a JSON line {"name","chain","transaction":hex} for each. Every client prepares and
// serializes transactions in its own way, with a node that answers the few methods clients
// call. The transaction is what the client has its account sign. The signer's key is 32
// bytes 0x46.
import { AbstractSigner, Contract, ContractFactory, JsonRpcProvider, Network, Transaction } from 'ethers';
import { createWalletClient, custom, encodeFunctionData, erc1155Abi, erc20Abi, erc721Abi, multicall3Abi, parseAbi, serializeTransaction, zeroAddress } from 'viem';
import { privateKeyToAccount, toAccount } from 'viem/accounts';
import { mainnet, tempo as tempoChain } from 'viem/chains';
import { Actions, Account, Addresses } from 'viem/tempo';

const secret = `0x${'46'.repeat(32)}`;
const local = privateKeyToAccount(secret);
const us = local.address;
const friend = '0x00000000000000000000000000000000000f121e';
const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const nft = '0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D';
const market = '0x1E0049783F008A0085193E00003D00cd54003c71';
const weth = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
const deadline = 1_800_003_600n;

// answers has the node's answers to clients that prepare a transaction.
const answers = {
  eth_blockNumber: '0x1', eth_getTransactionCount: '0x7', eth_estimateGas: '0x186a0', eth_maxPriorityFeePerGas: '0x3b9aca00',
  eth_gasPrice: '0x77359400', eth_getCode: '0x', eth_call: `0x${'00'.repeat(31)}01`,
  eth_getBlockByNumber: { number: '0x1', hash: `0x${'11'.repeat(32)}`, parentHash: `0x${'11'.repeat(32)}`, timestamp: '0x6b49d200', nonce: '0x0000000000000000', difficulty: '0x0', gasLimit: '0x1c9c380', gasUsed: '0x0', miner: zeroAddress, extraData: '0x', transactions: [], baseFeePerGas: '0x3b9aca00' },
  eth_feeHistory: { oldestBlock: '0x1', baseFeePerGas: ['0x3b9aca00', '0x3b9aca00'], gasUsedRatio: [0.5], reward: [['0x3b9aca00']] },
  eth_sendRawTransaction: `0x${'22'.repeat(32)}`,
};

function answer(chainId, method) {
  if (method === 'eth_chainId') return `0x${chainId.toString(16)}`;
  if (method in answers) return answers[method];
  throw Object.assign(new Error(`the node does not know ${method}`), { code: -32601 });
}

let name, chain;
function print(transaction) {
  process.stdout.write(JSON.stringify({ name, chain, transaction: transaction.replace(/^0x/, '') }) + '\n');
}

// account prints what it is asked to sign, and signs it.
const account = toAccount({
  address: us,
  signMessage: local.signMessage, signTypedData: local.signTypedData,
  async signTransaction(transaction, { serializer = serializeTransaction } = {}) {
    print(await serializer(transaction));
    return local.signTransaction(transaction, { serializer });
  },
});
account.signAuthorization = local.signAuthorization;

const clientOf = (of) => createWalletClient({ account, chain: of, transport: custom({ request: async ({ method }) => answer(of.id, method) }, { retryCount: 0 }) });

// viem

const viem = clientOf(mainnet);
async function withViem(what, build) {
  [name, chain] = [`viem ${what}`, 'ethereum'];
  await build(viem);
}
const write = (what, address, abi, functionName, args, value) => withViem(what, (c) => c.writeContract({ address, abi, functionName, args, value }));

const permitAbi = parseAbi(['function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)']);
const wethAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256)']);
const permit2Abi = parseAbi(['function approve(address token, address spender, uint160 amount, uint48 expiration)', 'function lockdown((address token, address spender)[])']);

await withViem('transfer', (c) => c.sendTransaction({ to: friend, value: 10n ** 16n }));
await withViem('transfer, legacy', (c) => c.sendTransaction({ to: friend, value: 10n ** 16n, type: 'legacy' }));
await withViem('transfer with an access list', (c) => c.sendTransaction({ to: friend, value: 1n, accessList: [{ address: friend, storageKeys: [] }] }));
await withViem('cancel: nothing to oneself', (c) => c.sendTransaction({ to: us, value: 0n }));
await withViem('transfer with a text', (c) => c.sendTransaction({ to: friend, value: 1n, data: '0x696e766f696365203137' }));
await write('ERC-20 transfer', usdc, erc20Abi, 'transfer', [friend, 250_000_000n]);
await write('ERC-20 approve', usdc, erc20Abi, 'approve', [market, 250_000_000n]);
await write('ERC-20 approve without limit', usdc, erc20Abi, 'approve', [market, 2n ** 256n - 1n]);
await write('ERC-20 approve nothing', usdc, erc20Abi, 'approve', [market, 0n]);
await write('ERC-20 transferFrom', usdc, erc20Abi, 'transferFrom', [friend, us, 5n]);
await write('ERC-721 safeTransferFrom', nft, erc721Abi, 'safeTransferFrom', [us, friend, 7n]);
await write('ERC-721 transferFrom', nft, erc721Abi, 'transferFrom', [us, friend, 7n]);
await write('ERC-721 approve', nft, erc721Abi, 'approve', [market, 7n]);
await write('ERC-721 setApprovalForAll', nft, erc721Abi, 'setApprovalForAll', [market, true]);
await write('ERC-721 setApprovalForAll, no more', nft, erc721Abi, 'setApprovalForAll', [market, false]);
await write('ERC-1155 safeTransferFrom', nft, erc1155Abi, 'safeTransferFrom', [us, friend, 1n, 5n, '0x']);
await write('ERC-1155 safeBatchTransferFrom', nft, erc1155Abi, 'safeBatchTransferFrom', [us, friend, [1n, 2n], [5n, 6n], '0x']);
await write('WETH deposit', weth, wethAbi, 'deposit', [], 10n ** 18n);
await write('WETH withdraw', weth, wethAbi, 'withdraw', [10n ** 18n]);
await write('Permit2 approve', permit2, permit2Abi, 'approve', [usdc, market, 5n, Number(deadline)]);
await write('Permit2 lockdown', permit2, permit2Abi, 'lockdown', [[{ token: usdc, spender: market }]]);
await withViem('ERC-2612 permit', async (c) => {
  const signature = await local.signTypedData({ domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: usdc }, primaryType: 'Permit',
    types: { Permit: ['address owner', 'address spender', 'uint256 value', 'uint256 nonce', 'uint256 deadline'].map((f) => ({ type: f.split(' ')[0], name: f.split(' ')[1] })) },
    message: { owner: us, spender: market, value: 5n, nonce: 0n, deadline } });
  await c.writeContract({ address: usdc, abi: permitAbi, functionName: 'permit', args: [us, market, 5n, deadline, Number(`0x${signature.slice(130)}`), signature.slice(0, 66), `0x${signature.slice(66, 130)}`] });
});
const send = (to, amount) => ({ target: usdc, allowFailure: false, callData: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }) });
await write('Multicall3 aggregate3', multicall3, multicall3Abi, 'aggregate3', [[send(friend, 1n), send(market, 2n)]]);
await withViem('sendCalls, one call after the other', (c) => c.sendCalls({ experimental_fallback: true, calls: [{ to: friend, value: 1n }, { to: usdc, abi: erc20Abi, functionName: 'approve', args: [market, 5n] }] }));
await withViem('deployment', (c) => c.deployContract({ abi: parseAbi(['constructor(address)']), bytecode: '0x60016000526001601ff3', args: [us] }));
const simple7702 = '0xe6Cae83BdE06E4c305530e199D7217f42808555B';
await withViem('EIP-7702 delegation', async (c) => c.sendTransaction({ to: us, gas: 100_000n, authorizationList: [await c.signAuthorization({ contractAddress: simple7702, executor: 'self' })] }));
await withViem('EIP-7702 delegation ends', async (c) => c.sendTransaction({ to: us, gas: 100_000n, authorizationList: [await c.signAuthorization({ contractAddress: zeroAddress, executor: 'self' })] }));
const execute = parseAbi(['function execute(bytes32 mode, bytes executionData) payable']);
await withViem('ERC-7821 batch by oneself', async (c) => {
  const { execute: batch } = await import('viem/experimental/erc7821');
  await batch(c, { address: us, calls: [{ to: friend, value: 1n }, { to: usdc, data: send(friend, 5n).callData }] });
});
await write('swap by a router with data of its own', '0x1111111254EEB25477B68fb85Ed929f73A960582', execute, 'execute', [`0x${'00'.repeat(32)}`, '0x1234']);

// ethers

class Node extends JsonRpcProvider {
  async _send(payload) {
    return [payload].flat().map(({ id, method }) => ({ id, result: answer(1, method) }));
  }
}
class Capture extends AbstractSigner {
  async getAddress() { return us; }
  connect(provider) { return new Capture(provider); }
  async signTransaction(tx) {
    const { from, ...fields } = tx;
    print(Transaction.from(fields).unsignedSerialized);
    return '0x';
  }
  async sendTransaction(tx) {
    await this.signTransaction(await this.populateTransaction(tx));
    return { hash: answers.eth_sendRawTransaction, from: us, nonce: 7, wait: async () => null };
  }
}
const node = new Node('http://localhost', Network.from(1), { staticNetwork: true, batchMaxCount: 1 });
const signer = new Capture(node);
async function withEthers(what, build) {
  [name, chain] = [`ethers ${what}`, 'ethereum'];
  await build();
}
const at = (address, ...abi) => new Contract(address, abi, signer);
await withEthers('transfer', () => signer.sendTransaction({ to: friend, value: 10n ** 16n }));
await withEthers('ERC-20 transfer', () => at(usdc, 'function transfer(address,uint256)').transfer(friend, 5n));
await withEthers('ERC-20 approve', () => at(usdc, 'function approve(address,uint256)').approve(market, 5n));
await withEthers('ERC-721 safeTransferFrom, bytes', () => at(nft, 'function safeTransferFrom(address,address,uint256,bytes)').safeTransferFrom(us, friend, 7n, '0x'));
await withEthers('ERC-1155 safeTransferFrom', () => at(nft, 'function safeTransferFrom(address,address,uint256,uint256,bytes)').safeTransferFrom(us, friend, 7n, 1n, '0x'));
await withEthers('WETH deposit', () => at(weth, 'function deposit() payable').deposit({ value: 5n }));
await withEthers('deployment', () => new ContractFactory([], '0x60016000526001601ff3', signer).deploy());
await withEthers('transferOwnership', () => at(nft, 'function transferOwnership(address)').transferOwnership(friend));
node.destroy();

// viem/tempo

const tempo = clientOf(tempoChain);
const alpha = '0x20c0000000000000000000000000000000000001';
const beta = '0x20c0000000000000000000000000000000000002';
const key = Account.fromSecp256k1(`0x${'47'.repeat(32)}`).address;
const salt = `0x${'33'.repeat(32)}`;
const channel = { payer: us, payee: friend, operator: zeroAddress, token: alpha, salt, authorizedSigner: zeroAddress, expiringNonceHash: salt };
async function withTempo(what, build) {
  [name, chain] = [`tempo ${what}`, 'tempo'];
  await build(tempo);
}
const single = (group, action, args, more = '') => withTempo(`${group}.${action}${more}`, (c) => Actions[group][action](c, { gas: 200_000n, nonceKey: 5n, nonce: 0, ...args }));

await withTempo('two calls', (c) => c.sendTransaction({ gas: 200_000n, calls: [Actions.token.transfer.call(c, { token: alpha, to: friend, amount: 5n }), Actions.token.transfer.call(c, { token: beta, to: friend, amount: 6n })] }));
await withTempo('transfer with a fee token, an end and a nonce key', (c) => c.sendTransaction({ gas: 200_000n, feeToken: alpha, validBefore: Number(deadline), nonceKey: 9n, nonce: 0, calls: [Actions.token.transfer.call(c, { token: alpha, to: friend, amount: 5n })] }));
await withTempo('sponsored transfer', (c) => c.sendTransaction({ gas: 200_000n, feePayer: true, calls: [Actions.token.transfer.call(c, { token: alpha, to: friend, amount: 5n })] }));
await single('token', 'transfer', { token: alpha, to: friend, amount: 5n });
await single('token', 'transfer', { token: alpha, to: friend, amount: 5n, memo: salt }, ' with a memo');
await single('token', 'transfer', { token: alpha, from: friend, to: us, amount: 5n }, ' from another');
await single('token', 'approve', { token: alpha, spender: market, amount: 5n });
await single('token', 'burn', { token: alpha, amount: 5n });
await single('token', 'burnBlocked', { token: alpha, from: friend, amount: 5n });
await single('token', 'changeTransferPolicy', { token: alpha, policyId: 2n });
await single('token', 'create', { name: 'Token', symbol: 'TOK', currency: 'USD', admin: us, salt });
await single('token', 'grantRoles', { token: alpha, roles: ['issuer'], to: friend });
await single('token', 'mint', { token: alpha, to: friend, amount: 5n });
await single('token', 'pause', { token: alpha });
await single('token', 'renounceRoles', { token: alpha, roles: ['issuer'] });
await single('token', 'revokeRoles', { token: alpha, roles: ['issuer'], from: friend });
await single('token', 'setSupplyCap', { token: alpha, supplyCap: 5n });
await single('token', 'setRoleAdmin', { token: alpha, role: 'issuer', adminRole: 'pause' });
await single('token', 'unpause', { token: alpha });
await single('token', 'prepareUpdateQuoteToken', { token: alpha, quoteToken: beta });
await single('token', 'updateQuoteToken', { token: alpha });
await single('dex', 'buy', { tokenIn: alpha, tokenOut: beta, amountOut: 5n, maxAmountIn: 6n });
await single('dex', 'sell', { tokenIn: alpha, tokenOut: beta, amountIn: 5n, minAmountOut: 4n });
await single('dex', 'place', { token: alpha, amount: 5n, type: 'buy', tick: 10 });
await single('dex', 'placeFlip', { token: alpha, amount: 5n, type: 'buy', tick: 10, flipTick: 20 });
await single('dex', 'cancel', { orderId: 5n });
await single('dex', 'cancelStale', { orderId: 5n });
await single('dex', 'createPair', { base: alpha });
await single('dex', 'withdraw', { token: alpha, amount: 5n });
await single('amm', 'rebalanceSwap', { userToken: alpha, validatorToken: beta, amountOut: 5n, to: us });
await single('amm', 'mint', { userTokenAddress: alpha, validatorTokenAddress: beta, validatorTokenAmount: 5n, to: us });
await single('amm', 'burn', { userToken: alpha, validatorToken: beta, liquidity: 5n, to: us });
await single('fee', 'setUserToken', { token: alpha });
await single('fee', 'setValidatorToken', { token: alpha });
await single('policy', 'create', { type: 'whitelist', addresses: [friend] });
await single('policy', 'setAdmin', { policyId: 2n, admin: friend });
await single('policy', 'modifyWhitelist', { policyId: 2n, address: friend, allowed: true });
await single('policy', 'modifyBlacklist', { policyId: 2n, address: friend, restricted: true });
await single('accessKey', 'revoke', { accessKey: key });
await single('accessKey', 'updateLimit', { accessKey: key, token: alpha, limit: 5n });
await single('accessKey', 'burnWitness', { witness: salt });
await single('reward', 'claim', { token: alpha });
await single('reward', 'distribute', { token: alpha, amount: 5n });
await single('reward', 'setRecipient', { token: alpha, recipient: friend });
await single('channel', 'open', { token: alpha, payee: friend, deposit: 5n, salt });
await single('channel', 'topUp', { channel, additionalDeposit: 5n });
await single('channel', 'requestClose', { channel });
await single('channel', 'withdraw', { channel });
await single('channel', 'settle', { channel, cumulativeAmount: 5n, signature: `0x${'01'.repeat(65)}` });
await single('channel', 'close', { channel, cumulativeAmount: 5n, captureAmount: 4n, signature: `0x${'01'.repeat(65)}` });
await single('validator', 'changeOwner', { newOwner: friend });
