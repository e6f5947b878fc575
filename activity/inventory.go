package activity

import (
	"maps"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// InventoryQuery is the body of a query about the keys, wallets and users of an organization:
// see Engine.Inventory. Only the members of its path are set.
type InventoryQuery struct {
	Query
	ID      string // privateKeyId, walletId or userId: of what is asked about; of list_wallet_accounts empty: all wallets
	Address string // of get_wallet_account; it or Path
	Path    string
	Details bool // includeWalletDetails of list_wallet_accounts
	Limit   int  // of list_wallet_accounts: 1 to MaxPage
	Before  string
	After   string
}

// inventory has the member that names what is asked about, for each query about the
// organization's keys, wallets and users. It is empty for those that have none.
var inventory = map[string]string{
	"get_organization": "", "get_user": "userId", "list_users": "",
	"get_private_key": "privateKeyId", "list_private_keys": "",
	"get_wallet": "walletId", "list_wallets": "",
	"get_wallet_account": "walletId", "list_wallet_accounts": "walletId",
}

// InventoryQueries returns the paths of the queries about keys, wallets and users.
func InventoryQueries() []string {
	return slices.Sorted(maps.Keys(inventory))
}

// DecodeInventory parses the body of one of the InventoryQueries strictly. Its error is an
// [*Error].
func DecodeInventory(path string, body []byte) (query InventoryQuery, err error) {
	named, known := inventory[path]
	if !known {
		return query, NewError(ReasonNotFound, "", nil, "no query %s", quoted(path))
	}
	query.Limit = MaxPage
	switch {
	case path == "get_wallet_account":
		err = query.read(body, required("walletId", &query.ID), optional("address", &query.Address),
			optional("path", &query.Path))
		if err == nil && (query.Address == "") == (query.Path == "") {
			err = NewError(ReasonRequestInvalid, "address", nil, "address, path: expected one of the two")
		}
	case path == "list_wallet_accounts":
		err = query.readAccounts(body)
	case named != "":
		err = query.read(body, required(named, &query.ID))
	default:
		err = query.read(body)
	}
	return query, err
}

func (q *InventoryQuery) readAccounts(body []byte) error {
	limit := strconv.Itoa(MaxPage)
	pages := func(reader *strictjson.Reader) error {
		return reader.Object(optional("limit", &limit), optional("before", &q.Before), optional("after", &q.After))
	}
	err := q.read(body, optional("walletId", &q.ID),
		strictjson.Optional("includeWalletDetails", &q.Details), strictjson.Optional("paginationOptions", pages))
	if err == nil {
		q.Limit, err = parsePage(limit)
	}
	if err == nil && q.Before != "" && q.After != "" {
		err = NewError(ReasonRequestInvalid, "before", nil, "before, after: expected at most one of the two")
	}
	return err
}
