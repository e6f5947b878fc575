//go:build ignore

/*
 * A PKCS#11 module that forwards to another one and fails on demand.
 *
 * Two files next to this library control it: NAME.target has the path of the
 * real module, and NAME.control is a table of 32-bit numbers that the test
 * maps into memory too:
 *
 *   number  meaning
 *   0       flip bit n-1 of each signature (0: none)
 *   1       delay of each signature in microseconds
 *   2       close all sessions before the next n signatures
 *   3       log out before the next n signatures
 *   4       the token is removed while this is 1
 *   5       the next n signatures fail with CKR_DEVICE_ERROR after they have begun
 *   6       maximum number of open sessions (0: no limit)
 *   7       signatures hang while this is 1
 *   8       the next n logins return CKR_PIN_INCORRECT, without calling the module
 *   9       the real slot appears as slot n (0: as itself)
 *   10      a search finds n additional objects that do not exist
 *   11      a second C_Initialize returns CKR_OK while this is 1
 *   12      truncate CKA_ID of new objects to n bytes (0: do not truncate)
 *   13      flags added to the token's
 *   14      refuse CKA_ID of more than n bytes (0: refuse none)
 *   15      truncate CKA_LABEL of new objects to n bytes (0: do not truncate)
 *   16      out: open sessions
 *   17      out: times that a session was used by two threads at once
 *   18      out: logins tried
 *   19      out: signatures made
 *   20      out: signatures in progress
 *   32+3f   affected calls of function f, by its number below: bit 0 is the
 *           next call; if every bit is set, all calls from now on
 *   33+3f   their effect: the value to return without calling the module, or
 *           an event
 *   34+3f   out: calls of function f
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pkcs11go.h"

enum { FLIP, DELAY, KILL, LOGOUT, GONE, BROKEN, CAP, HANG, BADPIN, SLOT, FLOOD, FORGIVE, CUT_ID, FLAGS, LONGEST_ID, CUT_LABEL };
enum { OPEN = 16, SHARED, LOGINS, SIGNED, SIGNING, CALLS = 32, WORDS = 128 };

/* The functions whose calls are counted. */
enum {
	INITIALIZE, GET_SLOT_LIST, OPEN_SESSION, LOGIN, GET_SESSION_INFO, FIND_INIT, FIND, FIND_FINAL,
	GET_ATTRIBUTES, SIGN_INIT, SIGN, CREATE, GENERATE, DESTROY,
};

/* Events that happen before the call. No module returns these values. */
enum { END_LOGIN = 0xfa000001, BEGIN_LOGIN, HOLD };

static CK_FUNCTION_LIST ours;
static CK_FUNCTION_LIST_PTR real;
static _Atomic unsigned *control;

/* The number of users of a session; several handles may share a counter. */
enum { SESSIONS = 4096 };
static _Atomic unsigned char using[SESSIONS];

/* on counts down a fault that happens n times, and returns whether it happens. */
static int on(int fault)
{
	unsigned n = atomic_load(&control[fault]);
	while (n > 0)
		if (atomic_compare_exchange_weak(&control[fault], &n, n - 1))
			return 1;
	return 0;
}

static int gone(void) { return atomic_load(&control[GONE]) != 0; }

/* Sessions in use are not closed: modules would crash. */
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER;

static void enter(CK_SESSION_HANDLE session)
{
	pthread_rwlock_rdlock(&in_use);
	if (atomic_fetch_add(&using[session % SESSIONS], 1) != 0)
		atomic_fetch_add(&control[SHARED], 1);
}

static CK_RV leave(CK_SESSION_HANDLE session, CK_RV rv)
{
	atomic_fetch_sub(&using[session % SESSIONS], 1);
	pthread_rwlock_unlock(&in_use);
	return rv;
}

/* The last correct PIN, for BEGIN_LOGIN. */
static CK_UTF8CHAR last_pin[256];
static CK_ULONG last_pin_size;

/* call counts a call, and returns the error that it must fail with. */
static CK_RV call(int function, CK_SESSION_HANDLE session)
{
	_Atomic unsigned *which = &control[CALLS + 3 * function], *what = which + 1;
	unsigned bits = atomic_load(which);
	while (bits != ~0u && !atomic_compare_exchange_weak(which, &bits, bits >> 1))
		;
	atomic_fetch_add(which + 2, 1);
	if ((bits & 1) == 0)
		return CKR_OK;
	unsigned value = atomic_load(what);
	switch (value) {
	case HOLD:
		while (atomic_load(what) == HOLD)
			usleep(1000);
		return CKR_OK;
	case END_LOGIN:
	case BEGIN_LOGIN:
		pthread_rwlock_wrlock(&in_use);
		if (value == END_LOGIN)
			real->C_Logout(session);
		else
			real->C_Login(session, CKU_USER, last_pin, last_pin_size);
		pthread_rwlock_unlock(&in_use);
		return CKR_OK;
	}
	return value;
}

static CK_RV initialize(CK_VOID_PTR arguments)
{
	CK_RV fault = call(INITIALIZE, 0);
	if (fault != CKR_OK)
		return fault;
	CK_RV rv = real->C_Initialize(arguments);
	return rv == CKR_CRYPTOKI_ALREADY_INITIALIZED && atomic_load(&control[FORGIVE]) ? CKR_OK : rv;
}

/* Translation between the slot numbers that callers see and the real ones. */
static CK_SLOT_ID real_slots[64];
static CK_ULONG real_count;

static CK_SLOT_ID real_slot(CK_SLOT_ID slot)
{
	if (atomic_load(&control[SLOT]) == 0)
		return slot;
	return slot == atomic_load(&control[SLOT]) && real_count > 0 ? real_slots[0] : (CK_SLOT_ID)-1;
}

static CK_RV get_slot_list(CK_BBOOL present, CK_SLOT_ID_PTR slots, CK_ULONG_PTR count)
{
	CK_RV fault = call(GET_SLOT_LIST, 0);
	if (fault != CKR_OK)
		return fault;
	if (gone()) {
		*count = 0;
		return CKR_OK;
	}
	CK_RV rv = real->C_GetSlotList(present, slots, count);
	if (rv == CKR_OK && slots != NULL && *count <= 64) {
		memcpy(real_slots, slots, *count * sizeof *slots);
		real_count = *count;
		if (atomic_load(&control[SLOT]) != 0 && *count > 0)
			slots[0] = atomic_load(&control[SLOT]);
	}
	return rv;
}

static CK_RV get_token_info(CK_SLOT_ID slot, CK_TOKEN_INFO_PTR info)
{
	if (gone())
		return CKR_TOKEN_NOT_PRESENT;
	CK_RV rv = real->C_GetTokenInfo(real_slot(slot), info);
	if (rv == CKR_OK)
		info->flags |= atomic_load(&control[FLAGS]);
	return rv;
}

static CK_RV open_session(CK_SLOT_ID slot, CK_FLAGS flags, CK_VOID_PTR app, CK_NOTIFY notify, CK_SESSION_HANDLE_PTR session)
{
	CK_RV fault = call(OPEN_SESSION, 0);
	if (fault != CKR_OK)
		return fault;
	unsigned cap = atomic_load(&control[CAP]);
	if (gone())
		return CKR_TOKEN_NOT_PRESENT;
	if (atomic_fetch_add(&control[OPEN], 1) >= cap && cap != 0) {
		atomic_fetch_sub(&control[OPEN], 1);
		return CKR_SESSION_COUNT;
	}
	pthread_rwlock_rdlock(&in_use);
	CK_RV rv = real->C_OpenSession(real_slot(slot), flags, app, notify, session);
	pthread_rwlock_unlock(&in_use);
	if (rv != CKR_OK)
		atomic_fetch_sub(&control[OPEN], 1);
	return rv;
}

static CK_RV close_session(CK_SESSION_HANDLE session)
{
	enter(session);
	CK_RV rv = real->C_CloseSession(session);
	if (rv == CKR_OK)
		atomic_fetch_sub(&control[OPEN], 1);
	return leave(session, rv);
}

static CK_RV close_all(void)
{
	CK_SLOT_ID slots[64];
	CK_ULONG count = 64;
	pthread_rwlock_wrlock(&in_use);
	CK_RV rv = real->C_GetSlotList(CK_TRUE, slots, &count);
	for (CK_ULONG i = 0; rv == CKR_OK && i < count; i++)
		real->C_CloseAllSessions(slots[i]);
	atomic_store(&control[OPEN], 0);
	pthread_rwlock_unlock(&in_use);
	return rv;
}

static CK_RV login(CK_SESSION_HANDLE session, CK_USER_TYPE user, CK_UTF8CHAR_PTR pin, CK_ULONG size)
{
	CK_RV fault = call(LOGIN, session);
	if (fault != CKR_OK)
		return fault;
	if (gone())
		return CKR_TOKEN_NOT_PRESENT;
	atomic_fetch_add(&control[LOGINS], 1);
	if (on(BADPIN))
		return CKR_PIN_INCORRECT;
	enter(session);
	CK_RV rv = real->C_Login(session, user, pin, size);
	if (rv == CKR_OK && size <= sizeof last_pin) {
		memcpy(last_pin, pin, size);
		last_pin_size = size;
	}
	return leave(session, rv);
}

static CK_RV get_session_info(CK_SESSION_HANDLE session, CK_SESSION_INFO_PTR info)
{
	CK_RV fault = call(GET_SESSION_INFO, session);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	return leave(session, real->C_GetSessionInfo(session, info));
}

static CK_RV find_init(CK_SESSION_HANDLE session, CK_ATTRIBUTE_PTR template, CK_ULONG count)
{
	CK_RV fault = call(FIND_INIT, session);
	if (fault != CKR_OK)
		return fault;
	if (gone())
		return CKR_TOKEN_NOT_PRESENT;
	enter(session);
	return leave(session, real->C_FindObjectsInit(session, template, count));
}

static CK_RV find(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE_PTR objects, CK_ULONG most, CK_ULONG_PTR count)
{
	CK_RV fault = call(FIND, session);
	if (fault != CKR_OK)
		return fault;
	unsigned flood = atomic_load(&control[FLOOD]);
	if (flood > 0) {
		*count = flood < most ? flood : most;
		atomic_fetch_sub(&control[FLOOD], *count);
		for (CK_ULONG i = 0; i < *count; i++)
			objects[i] = (CK_OBJECT_HANDLE)-1;
		return CKR_OK;
	}
	enter(session);
	return leave(session, real->C_FindObjects(session, objects, most, count));
}

static CK_RV find_final(CK_SESSION_HANDLE session)
{
	CK_RV fault = call(FIND_FINAL, session);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	return leave(session, real->C_FindObjectsFinal(session));
}

static CK_RV get_attributes(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE_PTR template, CK_ULONG count)
{
	CK_RV fault = call(GET_ATTRIBUTES, session);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	return leave(session, real->C_GetAttributeValue(session, object, template, count));
}

static CK_RV sign_init(CK_SESSION_HANDLE session, CK_MECHANISM_PTR mechanism, CK_OBJECT_HANDLE key)
{
	CK_RV fault = call(SIGN_INIT, session);
	if (fault != CKR_OK)
		return fault;
	if (gone()) {
		close_all(); /* a removed token loses its sessions */
		return CKR_TOKEN_NOT_PRESENT;
	}
	if (on(KILL))
		close_all();
	if (on(LOGOUT)) {
		pthread_rwlock_wrlock(&in_use);
		real->C_Logout(session);
		pthread_rwlock_unlock(&in_use);
	}
	enter(session);
	return leave(session, real->C_SignInit(session, mechanism, key));
}

static CK_RV sign(CK_SESSION_HANDLE session, CK_BYTE_PTR data, CK_ULONG size, CK_BYTE_PTR signature, CK_ULONG_PTR length)
{
	if (gone())
		return CKR_TOKEN_NOT_PRESENT;
	if (signature == NULL) { /* the caller asks for the length of the signature */
		enter(session);
		return leave(session, real->C_Sign(session, data, size, signature, length));
	}
	if (on(BROKEN))
		return CKR_DEVICE_ERROR;
	CK_RV fault = call(SIGN, session);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	atomic_fetch_add(&control[SIGNING], 1);
	while (atomic_load(&control[HANG]))
		usleep(1000);
	if (atomic_load(&control[DELAY]))
		usleep(atomic_load(&control[DELAY]));
	CK_RV rv = real->C_Sign(session, data, size, signature, length);
	atomic_fetch_sub(&control[SIGNING], 1);
	unsigned bit = atomic_load(&control[FLIP]);
	if (rv == CKR_OK) {
		atomic_fetch_add(&control[SIGNED], 1);
		if (bit != 0 && (bit - 1) / 8 < *length)
			signature[(bit - 1) / 8] ^= 1 << (bit - 1) % 8;
	}
	return leave(session, rv);
}

/* shorten truncates or refuses attributes, like a token with little room. */
static CK_RV shorten(CK_ATTRIBUTE_PTR template, CK_ULONG count)
{
	for (CK_ULONG i = 0; i < count; i++) {
		unsigned cut = 0, longest = 0;
		if (template[i].type == CKA_ID) {
			cut = atomic_load(&control[CUT_ID]);
			longest = atomic_load(&control[LONGEST_ID]);
		} else if (template[i].type == CKA_LABEL) {
			cut = atomic_load(&control[CUT_LABEL]);
		}
		if (longest != 0 && template[i].ulValueLen > longest)
			return CKR_ATTRIBUTE_VALUE_INVALID;
		if (cut != 0 && template[i].ulValueLen > cut)
			template[i].ulValueLen = cut;
	}
	return CKR_OK;
}

static CK_RV create(CK_SESSION_HANDLE session, CK_ATTRIBUTE_PTR template, CK_ULONG count, CK_OBJECT_HANDLE_PTR object)
{
	CK_RV fault = call(CREATE, session);
	if (fault == CKR_OK)
		fault = shorten(template, count);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	return leave(session, real->C_CreateObject(session, template, count, object));
}

static CK_RV generate(CK_SESSION_HANDLE session, CK_MECHANISM_PTR mechanism, CK_ATTRIBUTE_PTR public, CK_ULONG public_count,
	CK_ATTRIBUTE_PTR private, CK_ULONG private_count, CK_OBJECT_HANDLE_PTR public_key, CK_OBJECT_HANDLE_PTR private_key)
{
	CK_RV fault = call(GENERATE, session);
	if (fault == CKR_OK)
		fault = shorten(public, public_count);
	if (fault == CKR_OK)
		fault = shorten(private, private_count);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	return leave(session, real->C_GenerateKeyPair(session, mechanism, public, public_count, private, private_count, public_key, private_key));
}

static CK_RV destroy(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object)
{
	CK_RV fault = call(DESTROY, session);
	if (fault != CKR_OK)
		return fault;
	enter(session);
	return leave(session, real->C_DestroyObject(session, object));
}

/* text reads a one-line file. */
static int text(const char *name, char *into, size_t size)
{
	FILE *file = fopen(name, "r");
	if (file == NULL)
		return 0;
	int read = fgets(into, size, file) != NULL;
	fclose(file);
	into[strcspn(into, "\n")] = 0;
	return read;
}

static int load(void)
{
	Dl_info self;
	char name[4096], target[4096];
	if (!dladdr((void *)load, &self))
		return 0;
	snprintf(name, sizeof name, "%s.target", self.dli_fname);
	if (!text(name, target, sizeof target))
		return 0;
	snprintf(name, sizeof name, "%s.control", self.dli_fname);
	int file = open(name, O_RDWR);
	if (file < 0)
		return 0;
	void *mapped = mmap(NULL, WORDS * sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	void *module = dlopen(target, RTLD_NOW | RTLD_LOCAL);
	if (mapped == MAP_FAILED || module == NULL)
		return 0;
	control = mapped;
	CK_C_GetFunctionList get = (CK_C_GetFunctionList)dlsym(module, "C_GetFunctionList");
	return get != NULL && get(&real) == CKR_OK;
}

CK_RV C_GetFunctionList(CK_FUNCTION_LIST_PTR_PTR list)
{
	if (real == NULL && !load())
		return CKR_GENERAL_ERROR;
	ours = *real;
	ours.C_GetFunctionList = C_GetFunctionList;
	ours.C_Initialize = initialize;
	ours.C_GetSlotList = get_slot_list;
	ours.C_GetTokenInfo = get_token_info;
	ours.C_OpenSession = open_session;
	ours.C_CloseSession = close_session;
	ours.C_Login = login;
	ours.C_GetSessionInfo = get_session_info;
	ours.C_FindObjectsInit = find_init;
	ours.C_FindObjects = find;
	ours.C_FindObjectsFinal = find_final;
	ours.C_GetAttributeValue = get_attributes;
	ours.C_SignInit = sign_init;
	ours.C_Sign = sign;
	ours.C_CreateObject = create;
	ours.C_GenerateKeyPair = generate;
	ours.C_DestroyObject = destroy;
	*list = &ours;
	return CKR_OK;
}
