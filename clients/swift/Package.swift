// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Intake",
  platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
  products: [.library(name: "Intake", targets: ["Intake"])],
  targets: [
    .target(name: "Intake"),
    // A program that contains a client. The repository's tests control and kill this program.
    .executableTarget(name: "intake-driven", dependencies: ["Intake"], path: "Sources/Driven"),
    .testTarget(name: "IntakeTests", dependencies: ["Intake"]),
  ]
)
