package signing

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
)

// Inventory lists the keys, wallets and users of an organization.
type Inventory struct {
	Keystore keystore.Keystore
	Chains   intents.Table
}

// Answer answers a query about the keys, wallets and users of an organization: see
// activity.InventoryQueries. A member sees the keys only with a credential that may sign
// something, and of the users only itself. Handles and public keys are all that is read. The
// error is an *activity.Error.
func (i Inventory) Answer(ctx context.Context, path string, of *access.Organization, member *access.Member,
	query activity.InventoryQuery) ([]byte, error) {
	form, err := answers[path](&asking{Inventory: i, ctx: ctx, of: of, member: member, query: query})
	if err != nil {
		return nil, err
	}
	return json.Marshal(form)
}

var answers = map[string]func(*asking) (map[string]any, error){
	"get_organization": ofHeld("organizationData", func(a *asking, all held) any {
		return organization{ID: a.of.ID, Name: a.of.Name, Users: []user{userOf(a.member)},
			PrivateKeys: forms(all.keys, a.keyForm), Wallets: forms(all.wallets, walletForm)}
	}),
	"get_user":             (*asking).user,
	"list_users":           func(a *asking) (map[string]any, error) { return a.one("users", []user{userOf(a.member)}) },
	"get_private_key":      (*asking).privateKey,
	"list_private_keys":    ofHeld("privateKeys", func(a *asking, all held) any { return forms(all.keys, a.keyForm) }),
	"get_wallet":           (*asking).wallet,
	"list_wallets":         ofHeld("wallets", func(_ *asking, all held) any { return forms(all.wallets, walletForm) }),
	"get_wallet_account":   (*asking).account,
	"list_wallet_accounts": ofHeld("accounts", (*asking).accounts),
}

// ofHeld answers with one member, of what the caller may use.
func ofHeld(name string, form func(*asking, held) any) func(*asking) (map[string]any, error) {
	return func(a *asking) (map[string]any, error) {
		all, err := a.held()
		if err != nil {
			return nil, err
		}
		return a.one(name, form(a, all))
	}
}

// forms returns the forms of keys or wallets.
func forms[T, Form any](list []T, form func(*T) Form) []Form {
	all := make([]Form, len(list))
	for i := range list {
		all[i] = form(&list[i])
	}
	return all
}

// asking is a query on behalf of a member.
type asking struct {
	Inventory
	ctx    context.Context
	of     *access.Organization
	member *access.Member
	query  activity.InventoryQuery
}

// held has the keys of an organization: those in no wallet, and the wallets. The oldest come first.
type held struct {
	keys    []keystore.KeyInfo
	wallets []keystore.Wallet
}

// usesKeys reports whether the caller may submit anything that signs.
func (a *asking) usesKeys() bool {
	return slices.ContainsFunc(activity.Types(), func(kind activity.Type) bool {
		return kind.Signs() && a.member.May(kind)
	})
}

// shownSize is about what an answer has per key, in bytes.
const shownSize = 2 << 10

// held returns what the caller may use. The memory of the answer is reserved until the request ends.
func (a *asking) held() (all held, err error) {
	if !a.usesKeys() {
		return all, nil
	}
	finder, _ := a.Keystore.(keystore.WalletFinder)
	inWallet := map[string]bool{}
	for info, err := range a.Keystore.Keys(a.ctx, a.of.ID) {
		if err != nil {
			return all, refuse.Key(err)
		}
		if _, err := access.OriginOf(a.ctx).Reserve(shownSize); err != nil {
			return all, err
		}
		wallet, err := keystore.Wallet{}, keystore.ErrKeyNotFound
		if finder != nil {
			wallet, err = finder.WalletOf(a.ctx, a.of.ID, info.ID)
		}
		switch {
		case inWallet[info.ID]:
		case errors.Is(err, keystore.ErrKeyNotFound):
			all.keys = append(all.keys, info)
		case err != nil:
			return all, refuse.Key(err)
		default:
			all.wallets = append(all.wallets, wallet)
			for _, account := range wallet.Accounts {
				inWallet[account.ID] = true
			}
		}
	}
	return all, nil
}

// addresses returns a key's addresses in all formats, each once.
func (a *asking) addresses(public keystore.PublicKey) []chains.Address {
	all := []chains.Address{}
	for _, chain := range a.Chains {
		for _, address := range chain.Addresses(public) {
			if !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	return all
}

func (a *asking) keyForm(info *keystore.KeyInfo) privateKey {
	created := timestamp(info.CreatedAt)
	return privateKey{
		ID: info.ID, PublicKey: info.PublicKey.String(), Name: info.Name, Curve: info.PublicKey.Curve(),
		Addresses: a.addresses(info.PublicKey), Tags: []string{}, CreatedAt: created, UpdatedAt: created,
	}
}

func walletForm(of *keystore.Wallet) wallet {
	form := wallet{ID: of.ID, Name: of.Name, CreatedAt: timestamp(of.Accounts[0].CreatedAt)}
	form.UpdatedAt = timestamp(of.Accounts[len(of.Accounts)-1].CreatedAt)
	return form
}

// accountForm returns an account with the address that its path is for, or else its first.
func (a *asking) accountForm(in *keystore.Wallet, of *keystore.Account) account {
	created := timestamp(of.CreatedAt)
	form := account{
		ID: of.ID, OrganizationID: a.of.ID, WalletID: in.ID, Curve: of.PublicKey.Curve(),
		PathFormat: "PATH_FORMAT_BIP32", Path: of.Path, CreatedAt: created, UpdatedAt: created,
		PublicKey: of.PublicKey.String(), Name: of.Name,
	}
	if addresses := a.addresses(of.PublicKey); len(addresses) > 0 {
		index := max(0, slices.IndexFunc(addresses,
			func(address chains.Address) bool { return address.Format == format(of.Path) }))
		form.Format, form.Address = addresses[index].Format, addresses[index].Address
	}
	if a.query.Details {
		details := walletForm(in)
		form.Details = &details
	}
	return form
}

// one returns an answer of one member.
func (a *asking) one(name string, value any) (map[string]any, error) {
	return map[string]any{name: value}, nil
}

func (a *asking) user() (map[string]any, error) {
	if a.query.ID != a.member.User.ID {
		return nil, a.notFound("userId", "another user than the caller's")
	}
	return a.one("user", userOf(a.member))
}

// privateKey answers for any key, also one of a wallet: signWith takes the id of each.
func (a *asking) privateKey() (map[string]any, error) {
	if !a.usesKeys() {
		return nil, a.notFound("privateKeyId", "the credential may not sign")
	}
	for info, err := range a.Keystore.Keys(a.ctx, a.of.ID) {
		if err != nil {
			return nil, refuse.Key(err)
		}
		if info.ID == a.query.ID {
			return a.one("privateKey", a.keyForm(&info))
		}
	}
	return nil, a.notFound("privateKeyId", "no such key")
}

// find returns the wallet with the id that the query names.
func (a *asking) find() (*keystore.Wallet, error) {
	all, err := a.held()
	if err != nil {
		return nil, err
	}
	for i := range all.wallets {
		if all.wallets[i].ID == a.query.ID {
			return &all.wallets[i], nil
		}
	}
	return nil, a.notFound("walletId", "no such wallet that the credential may use")
}

func (a *asking) wallet() (map[string]any, error) {
	wallet, err := a.find()
	if err != nil {
		return nil, err
	}
	return a.one("wallet", walletForm(wallet))
}

func (a *asking) account() (map[string]any, error) {
	wallet, err := a.find()
	if err != nil {
		return nil, err
	}
	for i := range wallet.Accounts {
		of := &wallet.Accounts[i]
		if of.Path == a.query.Path || a.query.Address != "" && slices.ContainsFunc(a.addresses(of.PublicKey),
			func(address chains.Address) bool { return address.Address == a.query.Address }) {
			return a.one("account", a.accountForm(wallet, of))
		}
	}
	return nil, a.notFound("walletId", "no such account")
}

// accounts answers a page of the accounts of one wallet, or of all, oldest first.
func (a *asking) accounts(all held) any {
	forms := []account{}
	for i := range all.wallets {
		if a.query.ID != "" && all.wallets[i].ID != a.query.ID {
			continue
		}
		for j := range all.wallets[i].Accounts {
			forms = append(forms, a.accountForm(&all.wallets[i], &all.wallets[i].Accounts[j]))
		}
	}
	return a.page(forms)
}

// page returns the accounts after one, or those before one, at most Limit.
func (a *asking) page(all []account) []account {
	indexOf := func(id string) int {
		return slices.IndexFunc(all, func(listed account) bool { return listed.ID == id })
	}
	switch {
	case a.query.After != "":
		if index := indexOf(a.query.After); index >= 0 {
			all = all[index+1:]
		} else {
			all = all[:0]
		}
	case a.query.Before != "":
		all = all[:max(0, indexOf(a.query.Before))]
		return all[max(0, len(all)-a.query.Limit):]
	}
	return all[:min(len(all), a.query.Limit)]
}

// notFound refuses an id without telling whether another caller would find it.
func (a *asking) notFound(field, cause string) error {
	return activity.NewError(activity.ReasonNotFound, field, errors.New(cause),
		"organization %q has no %q that this credential may use", refuse.Shorten(a.of.ID), refuse.Shorten(a.query.ID))
}
