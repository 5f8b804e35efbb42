cycle(root: {label: string, kids?: object[]}) — A tree
bounds(n?: integer, said?: integer, id?: string, code?: string, tags?: string[], x?: number) — Numbers, texts and lists with limits
unions(mode?: "a"|"b"|3|null|true, who?: string|integer|null, list?: (string|number)[], both?: {a: string} & {b?: integer}, maybe?: string|null, old?: string|null, pair?: [number, string], one?: "fixed", map?: Record<string, integer>, free?: object, any?: any)
deep(filter?: {by?: {name: string, state?: "open"|"closed"}}, rows?: {cells?: string[][]}[]) — Nested
root_union(_: {id: string}|{name: string}) — One of two
needs_one(a?: string, b?: string) — At least one
查询(环境: string, "a-b"?: string, ""?: string) — 查询环境
missing(a?: any, b?: any, c?: boolean, d?: integer, e?: integer[]) — A reference to nothing and one to another document
brackets(one?: ("a"|"b")[], list?: (string|null)[], same?: string, mixed?: {a?: string} & ({b?: string}|{c?: string}), inner?: integer|(string & ("x"|"y")))
empty()
none()
wrong(a?: any, b?: any, c?: any[]) — Not a schema
