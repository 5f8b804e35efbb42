package store

import "context"

// measureSQLite returns what measures the records of a SQLite file: its pages that are in use,
// without those of everything else. The latter are counted once, and only when all pages
// together are over the limit: to count them is to read them.
func measureSQLite(ctx context.Context, s *Store, most int64) (func(context.Context) (int64, error), error) {
	used := func(ctx context.Context) (n int64, err error) {
		const query = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()"
		err = s.read.QueryRowContext(ctx, query).Scan(&n)
		return n, err
	}
	all, err := used(ctx)
	if err != nil || all <= most {
		return used, err
	}
	const query = `SELECT coalesce(sum(pgsize), 0) FROM sqlite_master AS m JOIN dbstat AS d ON d.name = m.name
		WHERE m.tbl_name NOT IN ('calls', 'runs', 'run_pictures') AND m.rootpage > 0`
	var others int64
	if err := s.read.QueryRowContext(ctx, query).Scan(&others); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (int64, error) {
		n, err := used(ctx)
		return n - others, err
	}, nil
}
