// A tree.
// Its nodes have nodes.
type cycle = (_: {
// A node of the tree
root: {
label: string,
kids?: object[]
}
}) => any;
// Numbers, texts and lists with limits. More text.
type bounds = (_: {
// How many (default 10; 1..100)
n?: integer,
// How often (default: 5)
said?: integer,
// (≥ 3 characters; uuid)
id?: string,
// (/^[A-Z]{3}$/)
code?: string,
// (≤ 5 items; each: A word)
tags?: string[],
// (> 0; multiple of 0.5)
x?: number
}) => any;
type unions = (_: {
mode?: "a"|"b"|3|null|true,
who?: string /* a name */|integer|null,
list?: (string|number)[],
both?: {
a: string
} & {
b?: integer
},
// Or nothing
maybe?: string|null,
old?: string|null,
pair?: [number, string],
one?: "fixed",
map?: Record<string, integer>,
free?: object,
any?: any
}) => any;
// Nested.
type deep = (_: {
// What to keep
filter?: {
by?: {
// Its name or part of it
name: string,
// (default "open")
state?: "open"|"closed"
}
},
rows?: {
cells?: string[][]
}[]
}) => any;
// One of two.
type root_union = (_: {
id: string
}|{
name: string
}) => any;
// At least one.
type needs_one = (_: {
a?: string,
b?: string
}) => any;
// 查询环境。返回列表。
type 查询 = (_: {
// 环境标识
环境: string,
"a-b"?: string,
""?: string
}) => any;
// A reference to nothing and one to another document.
type missing = (_: {
a?: any,
b?: any,
c?: boolean,
// An e
d?: integer,
// (each: An e)
e?: integer[]
}) => any;
type brackets = (_: {
one?: ("a"|"b")[],
list?: (string|null)[],
same?: string,
mixed?: {
a?: string
} & ({
b?: string
}|{
c?: string
}),
inner?: integer|(string & ("x"|"y"))
}) => any;
type empty = () => any;
type none = () => any;
// Not a schema.
type wrong = (_: {
a?: any,
b?: any,
c?: any[]
}) => any;
