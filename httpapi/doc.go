// Package httpapi serves the engine over HTTP: a handler to mount, and a server with
// timeouts fit for an open network.
//
//	handler := httpapi.New(engine, httpapi.Options{})
//	server := httpapi.NewServer(handler)
//	listener, err := net.Listen("tcp", address)
//	…
//	err = server.ServeTLS(httpapi.LimitConnections(listener, 0), certFile, keyFile)
//
// It serves these paths by POST, behind any path prefix:
//
//	/public/v1/submit/OPERATION   sign_transaction, init_otp_auth, …: each of activity.Operations
//	/public/v1/query/get_activity
//	/public/v1/query/list_activities
//	/public/v1/query/list_policies
//	/public/v1/query/whoami
//	/public/v1/query/QUERY        get_private_key, list_wallets, …: each of activity.InventoryQueries
//
// Unmodified clients of the hosted service work after changing their base URL, as far as
// docs/api.md lists. [OpenAPI] describes requests and answers.
//
// The handler bounds what strangers can cost: the length of a body (2 MiB with a transaction, 256
// KiB otherwise), the time a body takes to arrive, the memory of all bodies and of all answers,
// together, per address and per credential, and with [LimitConnections] the number of connections,
// together and per credential. Beyond 4 KiB a body is read only if it has a well-formed stamp. A
// refusal gives the reason, with two exceptions: before the stamp has been verified it does not say
// which check failed, and an internal error carries only an incident id, under which the log has
// the cause.
//
// [Admin] serves health, readiness, metrics and the log. It has no authentication, so it
// needs an address of its own that strangers cannot reach.
package httpapi
