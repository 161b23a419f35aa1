// swift-tools-version: 6.0
// At the root, so that SwiftPM takes this repository by its URL. The client is in clients/swift.
import PackageDescription

let package = Package(
  name: "Intake",
  platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
  products: [.library(name: "Intake", targets: ["Intake"])],
  targets: [
    .target(name: "Intake", path: "clients/swift/Sources/Intake"),
    // A program that contains a client. The repository's tests control and kill this program.
    .executableTarget(
      name: "intake-driven", dependencies: ["Intake"], path: "clients/swift/Sources/Driven"),
    .testTarget(
      name: "IntakeTests", dependencies: ["Intake"], path: "clients/swift/Tests/IntakeTests"),
  ]
)
