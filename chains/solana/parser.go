package solana

import "github.com/countersign-dev/countersign/chains"

// parser reads the raw bytes of a transaction strictly, and fills in where its parts are.
type parser struct {
	cursor
	*message
}

func unsupportedVersion(offset int, prefix byte) error {
	err := malformed("version", offset, "transaction version %d is not supported: use legacy, 0 or 1", prefix&^prefixBit)
	err.Kind = chains.ErrUnsupported
	return err
}

func (p *parser) readHeader() error {
	for _, field := range []struct {
		name  string
		value *int
	}{
		{"header.num_required_signatures", &p.header.required},
		{"header.num_readonly_signed_accounts", &p.header.readonlySigned},
		{"header.num_readonly_unsigned_accounts", &p.header.readonlyUnsigned},
	} {
		value, err := p.uint8(field.name)
		if err != nil {
			return err
		}
		*field.value = int(value)
	}
	return nil
}

// checkHeader checks the header against the number of the message's own keys.
func (p *parser) checkHeader() error {
	offset, h := p.headerAt(), p.header
	switch {
	case h.required == 0:
		return malformed("header.num_required_signatures", offset, "no signers: the first key pays the fee and signs")
	case h.readonlySigned >= h.required:
		return malformed("header.num_readonly_signed_accounts", offset+1,
			"all %d signers are read-only: the first pays the fee and must be writable", h.required)
	case h.required > p.keys:
		return malformed("header.num_required_signatures", offset, "%d signers, and %d account keys", h.required, p.keys)
	case h.required+h.readonlyUnsigned > p.keys:
		return malformed("header.num_readonly_unsigned_accounts", offset+2,
			"%d signers and %d read-only accounts, and %d account keys", h.required, h.readonlyUnsigned, p.keys)
	}
	return nil
}
