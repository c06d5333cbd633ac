package fused

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fuser rewrites one file: each sum with a product in it becomes one call of math.FMA, wherever the language lets a compiler
// do so: "x*y + z may be computed without rounding x*y, also across statements; an explicit conversion prevents it".
type fuser struct {
	info     types.Info
	file     *token.File
	source   []byte
	how      processor
	products map[types.Object]bool // variables that only ever hold one product, and whether a sum uses them
	fused    []place
	nudged   bool
	unknown  []string // functions of package math of which nobody has said whether they are exact
}

// find looks for variables that are set once, to a product.
func (r *fuser) find(f *ast.File) {
	writes := map[types.Object]int{}
	write := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			writes[r.info.ObjectOf(id)]++
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				write(e)
			}
			if r.defines(n) {
				r.products[r.info.ObjectOf(n.Lhs[0].(*ast.Ident))] = false
			}
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				write(n.X)
			}
		}
		return true
	})
	for v := range r.products {
		if writes[v] > 1 {
			delete(r.products, v)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool { // which of them sums use
		switch n := n.(type) {
		case *ast.AssignStmt:
			if r.adds(n) {
				r.uses(n.Rhs[0])
			}
		case *ast.BinaryExpr:
			if r.sum(n) {
				r.uses(n.X)
				r.uses(n.Y)
			}
		}
		return true
	})
}

func (r *fuser) uses(e ast.Expr) {
	if v, ok := r.variable(e); ok {
		r.products[v] = true
	}
}

// defines reports whether a statement is t := x*y.
func (r *fuser) defines(n *ast.AssignStmt) bool {
	if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return false
	}
	b, ok := ast.Unparen(n.Rhs[0]).(*ast.BinaryExpr)
	return ok && b.Op == token.MUL && r.float(b)
}

// adds reports whether a statement is s += x or s -= x.
func (r *fuser) adds(n *ast.AssignStmt) bool {
	return (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && r.float(n.Lhs[0])
}

func (r *fuser) sum(b *ast.BinaryExpr) bool {
	return (b.Op == token.ADD || b.Op == token.SUB) && r.float(b)
}

// float reports whether an expression is a float64 that is computed when the program runs.
func (r *fuser) float(e ast.Expr) bool {
	t := r.info.Types[e]
	if id, ok := e.(*ast.Ident); ok && t.Type == nil {
		t.Type = r.info.ObjectOf(id).Type()
	}
	if t.Value != nil || t.Type == nil {
		return false
	}
	return types.Identical(t.Type, types.Typ[types.Float64])
}

// variable returns the variable of find that an expression names.
func (r *fuser) variable(e ast.Expr) (types.Object, bool) {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil, false
	}
	v := r.info.Uses[id]
	_, known := r.products[v]
	return v, known
}

// product returns the factors of an expression that is a product, or a negated one, or a variable that holds one.
func (r *fuser) product(e ast.Expr) (x, y string, ok bool) {
	e = ast.Unparen(e)
	if v, known := r.variable(e); known {
		return "func(float64) float64 { return " + v.Name() + "Left }(" + v.Name() + ")", v.Name() + "Right", true // v stays in use
	}
	switch n := e.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.SUB && r.float(n) {
			x, y, ok = r.product(n.X)
			return "-(" + x + ")", y, ok
		}
	case *ast.BinaryExpr:
		if n.Op == token.MUL && r.float(n) {
			return r.render(n.X), r.render(n.Y), true
		}
		if half, exact := r.reciprocal(n); exact {
			return r.render(n.X), half, true
		}
	}
	return "", "", false
}

// reciprocal is one over the divisor of a quotient when that is a power of two: compilers multiply by it instead.
func (r *fuser) reciprocal(n *ast.BinaryExpr) (string, bool) {
	by := r.info.Types[n.Y].Value
	if n.Op != token.QUO || !r.float(n) || by == nil {
		return "", false
	}
	x, _ := constant.Float64Val(constant.ToFloat(by))
	part, _ := math.Frexp(x)
	return strconv.FormatFloat(1/x, 'g', -1, 64), math.Abs(part) == 0.5
}

// render is a node's source with all in it that changes.
func (r *fuser) render(root ast.Node) string {
	var out strings.Builder
	at := root.Pos()
	if f, ok := root.(*ast.File); ok {
		at = f.FileStart
	}
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			return true
		}
		text, changed := r.change(n)
		if !changed {
			return true
		}
		out.WriteString(r.between(at, n.Pos()))
		out.WriteString(text)
		at = n.End()
		return false
	})
	end := root.End()
	if f, ok := root.(*ast.File); ok {
		end = f.FileEnd
	}
	out.WriteString(r.between(at, end))
	return out.String()
}

func (r *fuser) between(from, to token.Pos) string {
	return string(r.source[r.file.Offset(from):r.file.Offset(to)])
}

// change returns what stands in a node's place.
func (r *fuser) change(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if r.sum(n) {
			return r.addition(n, n.Op, n.X, n.Y)
		}
	case *ast.AssignStmt:
		if r.adds(n) {
			op := token.ADD
			if n.Tok == token.SUB_ASSIGN {
				op = token.SUB
			}
			x, y, ok := r.product(n.Rhs[0])
			if !ok {
				return "", false
			}
			left := r.render(n.Lhs[0])
			return left + " = " + r.fma(n, x, y, left, op, false), true
		}
		if r.defines(n) && r.products[r.info.ObjectOf(n.Lhs[0].(*ast.Ident))] {
			b := ast.Unparen(n.Rhs[0]).(*ast.BinaryExpr)
			name, x, y := n.Lhs[0].(*ast.Ident).Name, r.render(b.X), r.render(b.Y)
			return fmt.Sprintf("%s, %sLeft, %sRight := (%s) * (%s), float64(%s), float64(%s)", name, name, name, x, y, x, y), true
		}
	case *ast.SelectorExpr:
		return r.call(n)
	}
	return "", false
}

// addition is l + r or l − r as one step, when one of them is a product.
func (r *fuser) addition(at ast.Node, op token.Token, left, right ast.Expr) (string, bool) {
	lx, ly, l := r.product(left)
	rx, ry, ok := r.product(right)
	switch {
	case ok && (r.how.right || !l):
		return r.fma(at, rx, ry, r.render(left), op, false), true
	case l:
		return r.fma(at, lx, ly, r.render(right), op, true), true
	}
	return "", false
}

// fma writes ± x·y ± z; first says that the product stands before the operator.
func (r *fuser) fma(at ast.Node, x, y, z string, op token.Token, first bool) string {
	from, to := r.file.Position(at.Pos()), r.file.Position(at.End())
	r.fused = append(r.fused, place{from.Filename, from.Line, to.Line})
	switch {
	case op == token.SUB && first:
		z = "-(" + z + ")"
	case op == token.SUB:
		x = "-(" + x + ")"
	}
	return "fusedmath.FMA(" + x + ", " + y + ", " + z + ")"
}

// call puts the nudged function in place of that of package math.
func (r *fuser) call(s *ast.SelectorExpr) (string, bool) {
	id, ok := s.X.(*ast.Ident)
	if !ok || !r.how.nudged {
		return "", false
	}
	name, ok := r.info.Uses[id].(*types.PkgName)
	if _, isFunc := r.info.Uses[s.Sel].(*types.Func); !ok || !isFunc || name.Imported().Path() != "math" {
		return "", false
	}
	if slices.Contains(nudgedFuncs, s.Sel.Name) {
		r.nudged = true
		return "nudged" + s.Sel.Name, true
	}
	if !slices.Contains(exactFuncs, s.Sel.Name) {
		r.unknown = append(r.unknown, s.Sel.Name)
	}
	return "", false
}

// withImports gives the new file the package that it calls, on the line of its package clause so that lines keep their
// numbers.
func (r *fuser) withImports(f *ast.File, text string) string {
	at := r.file.Offset(f.Name.End())
	if string(r.source[:at]) != text[:at] {
		panic("something changed before the package clause")
	}
	text = text[:at] + `; import fusedmath "math"` + text[at:] + "\nvar _ = fusedmath.FMA\n"
	for _, i := range f.Imports {
		if i.Path.Value == `"math"` {
			text += "\nvar _ = math.Abs\n"
		}
	}
	return text
}
