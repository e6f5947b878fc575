package activity

import "strconv"

// PrivateKeyQuery is the body of get_private_key.
type PrivateKeyQuery struct {
	Query
	PrivateKeyID string
}

// DecodePrivateKeyQuery parses the body of a get_private_key query strictly. Its error is an
// [*Error].
func DecodePrivateKeyQuery(body []byte) (query PrivateKeyQuery, err error) {
	return query, query.read(body, required("privateKeyId", &query.PrivateKeyID))
}

// PrivateKey is the answer to get_private_key: what is public of a key. Clients ask for it
// to learn the address of a key that they are given by its id.
type PrivateKey struct {
	ID        string
	Name      string
	Curve     string // CURVE_SECP256K1 or CURVE_ED25519
	PublicKey string // hex; compressed on secp256k1
	CreatedAt int64  // seconds since the epoch; 0 if it is not known
	Addresses []KeyAddress
}

// KeyAddress is an address of a key.
type KeyAddress struct {
	Format  string // such as ADDRESS_FORMAT_ETHEREUM
	Address string
}

// AppendAnswer appends the answer, {"privateKey":{…}}, with the members that the API's
// clients require. Keys have no tags, and are neither known to be exported nor imported.
func (k *PrivateKey) AppendAnswer(dst []byte) []byte {
	dst = append(dst, `{"privateKey":{`...)
	dst = appendTextMember(dst, "privateKeyId", k.ID)
	dst = appendTextMember(dst, "publicKey", k.PublicKey)
	dst = appendTextMember(dst, "privateKeyName", k.Name)
	dst = appendTextMember(dst, "curve", k.Curve)
	dst = append(dst, `,"addresses":[`...)
	for i, address := range k.Addresses {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendTextMember(dst, "format", address.Format)
		dst = appendTextMember(dst, "address", address.Address)
		dst = append(dst, '}')
	}
	at := `{"seconds":"` + strconv.FormatInt(k.CreatedAt, 10) + `","nanos":"0"}`
	dst = append(dst, `],"privateKeyTags":[]`...)
	dst = appendRawMember(dst, "createdAt", at)
	dst = appendRawMember(dst, "updatedAt", at)
	return append(dst, `,"exported":false,"imported":false}}`...)
}
