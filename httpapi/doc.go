// Package httpapi is the engine over HTTP: one handler to mount, and a server
// with the timeouts that a server on a network needs.
//
//	handler := httpapi.New(engine, httpapi.Options{})
//	server := httpapi.NewServer(handler)
//	listener, err := net.Listen("tcp", address)
//	…
//	err = server.ServeTLS(httpapi.LimitConnections(listener, 0), certFile, keyFile)
//
// It serves, behind any path prefix, by POST,
//
//	/public/v1/submit/sign_transaction    an activity, carried out
//	/public/v1/submit/init_otp_auth
//	/public/v1/submit/verify_otp
//	/public/v1/query/get_activity         an activity that was recorded
//	/public/v1/query/whoami               who the stamp belongs to
//
// so that an unmodified client of the hosted service works by changing its
// base URL. [OpenAPI] describes what is sent and answered.
//
// What a stranger can make the handler do is bounded: how long a body is (2 MiB
// with a transaction, 256 KiB otherwise), how long it takes to arrive, how much
// memory all bodies and all answers take together and for one address, and how
// many connections there are. Nothing beyond 4 KiB of a body is taken in without
// a well-formed stamp. A refusal says why, except before the stamp has verified,
// and except
// for internal errors, which are answered with an incident's id that stands in
// the log beside the cause.
//
// [Admin] serves health, readiness and metrics, on an address of its own: they
// are not for strangers.
package httpapi
