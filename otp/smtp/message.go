package smtp

import (
	"cmp"
	"fmt"
	netmail "net/mail"
	"strings"

	mail "github.com/wneessen/go-mail"

	"github.com/countersign-dev/countersign/otp"
)

// compose returns the e-mail for a message. It refuses headers of several lines even
// though package otp has checked them.
func (s *Sender) compose(message otp.Message) (*mail.Msg, error) {
	from := cmp.Or(message.FromAddress, s.config.From)
	for _, header := range []struct{ name, value string }{
		{"subject", message.Subject}, {"recipient", message.To}, {"sender's name", message.FromName},
		{"sender's address", from}, {"reply-to address", message.ReplyTo}, {"id", message.OTPID},
	} {
		if strings.ContainsAny(header.value, "\r\n\x00") {
			return nil, fmt.Errorf("smtp: the %s has more than one line", header.name)
		}
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	// The library quotes names without escaping them: set parsed addresses, so that a
	// name that contains quotes cannot become another address.
	for _, party := range []struct {
		header  mail.AddrHeader
		address netmail.Address
	}{
		{mail.HeaderFrom, netmail.Address{Name: message.FromName, Address: from}},
		{mail.HeaderTo, netmail.Address{Address: message.To}},
		{mail.HeaderReplyTo, netmail.Address{Address: message.ReplyTo}},
	} {
		if party.header == mail.HeaderReplyTo && message.ReplyTo == "" {
			continue
		}
		parsed, err := netmail.ParseAddress(party.address.Address)
		if err != nil || parsed.Address != party.address.Address {
			return nil, fmt.Errorf("smtp: %s: not an e-mail address", party.header)
		}
		msg.SetAddrHeaderFromMailAddress(party.header, &party.address)
	}
	msg.Subject(message.Subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(message.OTPID + "@" + from[strings.LastIndexByte(from, '@')+1:])
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
	msg.SetBodyString(mail.TypeTextPlain, message.Text)
	if message.HTML != "" {
		msg.AddAlternativeString(mail.TypeTextHTML, message.HTML)
	}
	return msg, nil
}
