// SPDX-License-Identifier: Apache-2.0
// Something for the Kotlin compiler to do.
package bench

data class Point(val x: Int, val y: Int)

sealed class Shape {
    abstract fun area(): Double
    class Circle(val r: Double) : Shape() { override fun area() = 3.14 * r * r }
    class Box(val w: Double, val h: Double) : Shape() { override fun area() = w * h }
}

fun total(shapes: List<Shape>) = shapes.map { it.area() }.filter { it > 1 }.fold(0.0) { a, b -> a + b }

inline fun <T> times(n: Int, f: (Int) -> T): List<T> { val out = ArrayList<T>(); for (i in 0 until n) out.add(f(i)); return out }

fun main() {
    val points = times(10) { Point(it, it * it) }
    println(points.groupBy { it.x % 3 }.mapValues { (_, v) -> v.sumBy { it.y } })
    println(total(listOf(Shape.Circle(2.0), Shape.Box(1.0, 3.0))))
}
