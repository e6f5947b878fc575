package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/store"
)

func runLists(t *testing.T, h Harness) {
	if open(t, h).Lister == nil {
		return
	}
	t.Run("a page of long records ends early", func(t *testing.T) { longPages(open(t, h)) })
	t.Run("types and statuses", func(t *testing.T) { groups(open(t, h)) })
	t.Run("a caller that is gone", func(t *testing.T) { gone(open(t, h)) })
}

// longPages checks that a page is bounded by the bytes of its records, that it has at
// least one, and that all are found in either direction.
func longPages(b *bench) {
	sizes := []int{store.MaxListBytes / 2, 3 * store.MaxListBytes, 1, store.MaxListBytes / 2, store.MaxListBytes / 2,
		10}
	var all []string
	for i, size := range sizes {
		long := b.activity(fmt.Sprint("long ", i))
		long.Data = make([]byte, size)
		b.noError(b.Complete(b.t.Context(), b.lease(fmt.Sprint("long ", i)), long, nil))
		all = append([]string{long.ID}, all...)
	}
	b.same([][]string{all[:3], all[3:5], all[5:]}, b.pages(func(page []store.Activity) store.Filter {
		filter := store.Filter{Limit: store.MaxList}
		if len(page) > 0 {
			filter.Before = page[len(page)-1].ID
		}
		return filter
	}))
	b.same([][]string{all[4:], all[1:4], all[:1]}, b.pages(func(page []store.Activity) store.Filter {
		filter := store.Filter{Limit: store.MaxList, After: " "}
		if len(page) > 0 {
			filter.After = page[0].ID
		}
		return filter
	}))
}

// groups checks that a filter of types and statuses finds what it names, in order and page by
// page, however many of other types and statuses are in between.
func groups(b *bench) {
	const bodies = 60
	kind := func(i int) string { return fmt.Sprint("TYPE_", i%5) }
	status := func(i int) string { return fmt.Sprint("STATUS_", i%3) }
	for i := range bodies {
		body := fmt.Sprintf("%02d", i)
		grouped := b.activity(body)
		grouped.Type, grouped.Status = kind(i), status(i)
		b.noError(b.Complete(b.t.Context(), b.lease(body), grouped, nil))
	}
	for _, filter := range []store.Filter{
		{Types: []string{"TYPE_1"}},
		{Statuses: []string{"STATUS_0"}},
		{Types: []string{"TYPE_4", "TYPE_0", "TYPE_4"}, Statuses: []string{"STATUS_2", "STATUS_1"}},
		{Types: []string{"TYPE_"}}, {Statuses: []string{"STATUS_00"}},
		{Types: []string{"TYPE_1"}, Statuses: []string{""}},
	} {
		var want []string
		for i := range bodies {
			if filter.HoldsGroup(kind(i), status(i)) {
				want = append([]string{b.activity(fmt.Sprintf("%02d", i)).ID}, want...)
			}
		}
		filter.Limit = 4
		back := slices.Concat(b.pages(func(page []store.Activity) store.Filter {
			if len(page) > 0 {
				filter.Before = page[len(page)-1].ID
			}
			return filter
		})...)
		b.same(want, back)
		filter.Before, filter.After = "", " "
		var forth []string
		for _, page := range b.pages(func(page []store.Activity) store.Filter {
			if len(page) > 0 {
				filter.After = page[0].ID
			}
			return filter
		}) {
			forth = append(slices.Clone(page), forth...)
		}
		b.same(want, forth)
	}
}

// gone lists for a caller that has gone.
func gone(b *bench) {
	for i := range 3 {
		b.complete(b.lease(fmt.Sprint(i)), fmt.Sprint(i))
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	_, err := b.List(ctx, organization, store.Filter{Limit: 10})
	b.is(err, context.Canceled)
}

// pages lists until a page is empty.
func (b *bench) pages(next func(page []store.Activity) store.Filter) (all [][]string) {
	b.t.Helper()
	var page []store.Activity
	for {
		var err error
		page, err = b.List(b.t.Context(), organization, next(page))
		b.noError(err)
		if len(page) == 0 {
			return all
		}
		var ids []string
		for i := range page {
			ids = append(ids, page[i].ID)
		}
		all = append(all, ids)
	}
}
