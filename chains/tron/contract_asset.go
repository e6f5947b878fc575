package tron

// core/contract/asset_issue_contract.proto, exchange_contract.proto and
// market_contract.proto: tokens of TRC-10 and the two ways to trade them.

// Indexes of the fields of assetIssueContract.
const (
	issueName   = 1
	issueSupply = 3
	issueFrozen = 4
	issueStart  = 8
	issueEnd    = 9
)

// maxURL is the longest URL of a website, in bytes.
const maxURL = 256

var frozenSupplyMessage = newMessage("FrozenSupply",
	count(1, "frozen_amount", "amount", tokenUnit),
	count(2, "frozen_days", "for", "days").upTo(3652))

// Indexes of the two tokens in the tables of exchangeCreateContract and
// marketSellAssetContract.
const (
	firstToken  = 1
	secondToken = 3
)

const tokenUnit = "smallest units"

var assetContracts = []*contract{
	newContract(numberTransferAsset, "TransferAssetContract", "transfer a TRC-10 token", doTransferAsset,
		token(1, "asset_name", "token").notTRX(),
		owner(2),
		addr(3, "to_address", "to"),
		count(4, "amount", "amount", tokenUnit)).where(checkNotToOwner),
	newContract(9, "ParticipateAssetIssueContract", "buy a TRC-10 token from its issuer", doParticipate,
		owner(1),
		addr(2, "to_address", "issuer"),
		token(3, "asset_name", "token").notTRX(),
		sun(4, "amount", "amount paid")).where(checkNotToOwner),
	newContract(6, "AssetIssueContract", "issue a TRC-10 token", doIssue,
		owner(1),
		text(2, "name", "name").readable(1, 32),
		text(3, "abbr", "abbreviation").readable(1, 32).optional(),
		count(4, "total_supply", "total supply", tokenUnit),
		many(5, "frozen_supply", "frozen supply", frozenSupplyMessage).optional(),
		count32(6, "trx_num", "price", "sun"),
		count32(7, "precision", "decimals", "").optional().upTo(6),
		count32(8, "num", "tokens for that price", tokenUnit),
		moment(9, "start_time", "sale starts").neededAbove0(),
		moment(10, "end_time", "sale ends").neededAbove0(),
		count(11, "order", "order", "").optional(),
		count32(16, "vote_score", "vote score", "").optional(),
		text(20, "description", "description").optional().upTo(200),
		text(21, "url", "website").upTo(maxURL),
		count(22, "free_asset_net_limit", "bandwidth for each holder", "bytes a day").optional(),
		count(23, "public_free_asset_net_limit", "bandwidth for all holders", "bytes a day").optional(),
		refused(24, "public_free_asset_net_usage", "the network only accepts 0: leave it out"),
		moment(25, "public_latest_free_net_time", "bandwidth used last"),
		str(41, "id", "token id")).where(checkIssue).burning(feeAssetIssue),
	newContract(14, "UnfreezeAssetContract", "release frozen supply of the issued token", doUnfreezeAsset, owner(1)),
	newContract(15, "UpdateAssetContract", "change the issued token", doSettings,
		owner(1),
		text(2, "description", "description").optional().upTo(200),
		text(3, "url", "website").upTo(maxURL),
		count(4, "new_limit", "bandwidth for each holder", "bytes a day").optional(),
		count(5, "new_public_limit", "bandwidth for all holders", "bytes a day").optional()),
	newContract(41, "ExchangeCreateContract", "create a Bancor exchange", doExchangeCreate,
		owner(1),
		token(2, "first_token_id", "first token"),
		count(3, "first_token_balance", "first amount", tokenUnit),
		token(4, "second_token_id", "second token"),
		count(5, "second_token_balance", "second amount", tokenUnit)).where(checkTwoTokens).burning(feeExchange),
	newContract(42, "ExchangeInjectContract", "put tokens into a Bancor exchange", doExchangeInject,
		owner(1),
		count(2, "exchange_id", "exchange", ""),
		token(3, "token_id", "token"),
		count(4, "quant", "amount", tokenUnit)),
	newContract(43, "ExchangeWithdrawContract", "take tokens out of a Bancor exchange", doExchangeWithdraw,
		owner(1),
		count(2, "exchange_id", "exchange", ""),
		token(3, "token_id", "token"),
		count(4, "quant", "amount", tokenUnit)),
	newContract(44, "ExchangeTransactionContract", "trade on a Bancor exchange", doExchangeTrade,
		owner(1),
		count(2, "exchange_id", "exchange", ""),
		token(3, "token_id", "token sold"),
		count(4, "quant", "amount sold", tokenUnit),
		count(5, "expected", "least amount bought", tokenUnit)),
	newContract(52, "MarketSellAssetContract", "place an order", doOrder,
		owner(1),
		token(2, "sell_token_id", "token sold"),
		count(3, "sell_token_quantity", "amount sold", tokenUnit),
		token(4, "buy_token_id", "token bought"),
		count(5, "buy_token_quantity", "least amount bought", tokenUnit)).where(checkTwoTokens),
	newContract(53, "MarketCancelOrderContract", "cancel an order", doCancelOrder,
		owner(1),
		blob(2, "order_id", "order")),
}
