module github.com/toolfit/toolfit/internal/bench

go 1.26
